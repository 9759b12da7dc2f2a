"""What core's own views tell, for servers without the extension."""
