"""What closecall costs, beside its peers and beside the cheapest thing possible, in one run."""
