"""Tree search: select, evaluate, expand, back up.  It is handed everything it needs and knows no protocol."""
