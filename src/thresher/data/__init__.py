"""Every source of data ends as the same batches of rows."""
