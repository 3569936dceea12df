"""Views into the machine: inspector, probe, heat map, false colours."""
