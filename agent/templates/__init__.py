"""Templates: parametrised kernels for families of operations. docs/templates.md says how to add one."""

from __future__ import annotations

from agent.templates.elementwise import Elementwise
from agent.templates.matmul import Matmul
from agent.templates.row_reduction import RowReduction
from agent.templates.scan import Scan
from agent.templates.template import Template
from agent.templates.transposed import Transposed
from agent.templates.windowed import Windowed

TEMPLATES: tuple[Template, ...] = (Matmul(), Windowed(), RowReduction(), Scan(), Transposed(), Elementwise())
