"""Files, streams and arrays, each read as chunks of rows."""
