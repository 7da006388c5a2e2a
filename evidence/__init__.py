"""Studies made with closecall: the paper, reproduced, and the simulations behind its claims."""
