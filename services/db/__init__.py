"""The database: models, one repository per concern, and the search's store on top of them."""
