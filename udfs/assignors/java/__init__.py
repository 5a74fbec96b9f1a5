"""The orders in which Java's maps and sets return their entries. Some assignments depend on them."""
