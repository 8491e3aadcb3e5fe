// CUDA programs as files: what raddle exec must know of one before it starts it.
#pragma once
#include <string>
#include <vector>

namespace raddle::cli {

struct CudaProgram {
  std::string path;                 ///< with a '/'
  std::vector<std::string> needed;  ///< shared libraries that it names
  bool has_run_path = false;        ///< DT_RPATH, which goes before LD_LIBRARY_PATH
  bool has_device_code = false;
};

/// Finds the program as a shell would and looks into it. Throws InputError when there is none, when
/// it is not a program for this computer, when it has the CUDA runtime in it (nvcc's default:
/// -cudart static), or when its device code holds no PTX.
CudaProgram find_program(const std::string& name);

/// The file begins as a program, a shared library or a fat binary does.
bool may_hold_device_code(const std::string& file);

struct DevicePtx {
  std::string name;  ///< "app, compute_80, add.cu", unique in the file
  std::string text;
  std::string link_target = {};  ///< "": whole by itself; else those of one target are linked
};
/// The PTX texts in such a file, decompressed, in order. Throws InputError when there is none, or
/// naming file and offset when it cannot be read.
std::vector<DevicePtx> device_ptx(const std::string& file);

}  // namespace raddle::cli
