"""The evaluation against run folders made by hand, where what is wrong is known beforehand."""
