"""The commands of `shadowlab`, a module for each thing that they are about."""
