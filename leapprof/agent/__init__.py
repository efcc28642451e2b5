"""What runs on the observed host, the plan that it is sent, and the frames that it sends back."""
