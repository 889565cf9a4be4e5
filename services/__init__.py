"""Everything stateful: settings, database, artifacts, report, command line. `bootstrap` wires it together."""
