"""One module per change of the schema, each with a way up and a way down."""
