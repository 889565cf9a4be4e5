"""The errors of the services layer.

ServiceError             anything below
├── UsageError           what was asked cannot be done as asked; the text says what to do instead
│   ├── SettingsError    a setting from the environment or an argument
│   ├── UnknownJob       no job has this id
│   ├── JobBusy          another process is working on this job
│   └── SchemaOutdated   the database needs `kernelwright db upgrade`
└── RecordDamaged        a stored record cannot be read back (our own fault)
"""

from __future__ import annotations

from agent.api import SearchError


class ServiceError(Exception):
    """Raised by the services layer."""


class UsageError(ServiceError):
    """What was asked cannot be done as asked."""


class SettingsError(UsageError):
    """A setting is wrong; the text names it."""


class UnknownJob(UsageError, SearchError):
    """No job has this id."""


class JobBusy(UsageError):
    """Another process is working on this job."""


class SchemaOutdated(UsageError):
    """The database has another schema than this version needs."""


class RecordDamaged(ServiceError):
    """A stored record cannot be read back."""
