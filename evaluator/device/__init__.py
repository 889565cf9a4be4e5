"""Memory sharing, synchronising and probing behind one small interface per device."""
