kernel-hopper.traceg
