"""A throwaway server and what is done with it: under the demo, the experiments and `tune`."""
