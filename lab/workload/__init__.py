"""The program in the workload container: sends the plan's mail, writes down what it heard."""
