"""The one error the study raises for what its user can mend."""


class StudyError(Exception):
    """Something outside the code is wrong; the message says what to do next."""
