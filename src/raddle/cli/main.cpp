#include "raddle/cli/cli.h"

int main(int argc, char** argv) { return raddle::cli::run(argc, argv); }
