"""The error of a film: estimates, adaptive sampling's budget, rules to stop."""
