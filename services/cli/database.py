"""`kernelwright db upgrade`."""

from __future__ import annotations

from sqlalchemy import make_url

from services.cli.failures import FOUND
from services.cli.output import Output
from services.workshop import Workshop


def upgrade(workshop: Workshop, out: Output) -> int:
    """Bring the schema up to date."""
    revision = workshop.upgrade()
    url = make_url(workshop.settings.database_url).render_as_string(hide_password=True)
    out.say(f"{url} is at schema {revision}")
    out.result({"database": url, "revision": revision})
    return FOUND
