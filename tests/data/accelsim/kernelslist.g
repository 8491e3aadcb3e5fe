MemcpyHtoD,0x00007f5801000000,4096
kernel-1.traceg
kernel-2.traceg
