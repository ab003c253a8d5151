"""Tables: csv, xlsx, xls, ods; every row can stand alone."""
