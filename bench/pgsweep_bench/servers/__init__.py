"""Throwaway servers, and the load on them."""
