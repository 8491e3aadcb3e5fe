// The linker of the driver interface: it keeps the texts, which are linked when the image that it
// gives is loaded. And what compiling at run time says to the program.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/cudart/driver.h"
#include "raddle/cudart/jit_log.h"
#include "raddle/exec/decode/program.h"

using namespace raddle;
using namespace raddle::cudart;

namespace raddle::cudart {

namespace {

constexpr int kWallTime = 2, kInfoBuffer = 3, kInfoBytes = 4, kErrorBuffer = 5, kErrorBytes = 6;

/// Where the option stands; null: the program did not give it.
void** option(const JitOptions& given, int number) {
  for (unsigned i = 0; i < given.count; ++i)
    if (given.options[i] == number) return &given.values[i];
  return nullptr;
}

/// The text as far as it fits, and how long it is then.
void write_log(void** buffer, void** bytes, std::string_view text) {
  if (buffer == nullptr || *buffer == nullptr || bytes == nullptr) return;
  const auto capacity = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(*bytes));
  if (capacity == 0) return;
  const std::size_t length = std::min(text.size(), capacity - 1);
  std::memcpy(*buffer, text.data(), length);
  static_cast<char*>(*buffer)[length] = '\0';
  *bytes = reinterpret_cast<void*>(length == 0 ? 0 : length + 1);
}

}  // namespace

void write_jit_log(const JitOptions& options, std::string_view error) {
  write_log(option(options, kErrorBuffer), option(options, kErrorBytes), error);
  write_log(option(options, kInfoBuffer), option(options, kInfoBytes), "");
  constexpr float kNoTime = 0;
  if (void** const time = option(options, kWallTime)) std::memcpy(time, &kNoTime, sizeof kNoTime);
}

void refuse_image(Context& c, const Failure& failure) {
  const bool lacking = failure.code == kNoKernelImageForDevice ||
                       failure.message.find("is not supported") != std::string::npos;
  if (!lacking || failure.message.empty()) throw failure;
  c.fail(failure.message);
  throw Failure{failure.code == kInvalidPtx ? kUnsupportedPtxVersion : failure.code};
}

void check_resolved(const ptx::Module& module) {
  std::vector<Diagnostic> unresolved = exec::unresolved(module);
  if (!unresolved.empty()) throw InputError(std::move(unresolved));
}

std::string bytes_of_file(const char* name) {
  if (name == nullptr) throw Failure{kInvalidValue};
  std::ifstream in(name, std::ios::binary);
  if (!in) throw Failure{kFileNotFound, std::string("cannot read ") + name};
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace raddle::cudart

namespace {

/// CUjitInputType.
enum class LinkInput : int { Cubin, Ptx, FatBinary, Object, Library };

/// Of the call, else of the linker's making: then with all the room that the logs had at first,
/// since the program reads there how much of it the last call has filled.
JitOptions log_of(const Link& link, const JitOptions& given) {
  if (given.count != 0) return given;
  if (void** const bytes = option(link.options, kErrorBytes)) *bytes = link.error_bytes;
  if (void** const bytes = option(link.options, kInfoBytes)) *bytes = link.info_bytes;
  return link.options;
}

/// PTX is parsed at once: the program wants to know which of its texts is wrong.
void add_to_link(Context& c, Link& link, LinkInput type, const std::string& bytes,
                 const std::string& name, const JitOptions& log) {
  using enum LinkInput;
  // The machine is the device runtime.
  if (type == Library && name.find("cudadevrt") != std::string::npos) return;
  if (type != Ptx && type != FatBinary)
    c.refuse_unsupported("linking what is not PTX (" + name + ")", kDriverNotSupported);
  logged(c, log, [&] {
    Image image = image_of_bytes(bytes, c.seen(), name);
    for (ptx::SourceText& source : image.sources) {
      ptx::parse(source.text, source.file);
      link.sources.push_back(std::move(source));
    }
  });
}

}  // namespace

extern "C" {

int raddle_cuLinkCreate(unsigned count, const int* options, void** values, Link** to) {
  return driver("cuLinkCreate", kCurrentContext, [&](Context& c) {
    const JitOptions given = jit_options(count, options, values);
    required(to) = c.links.make();
    Link& made = **to;
    made.options = given;
    if (void** const bytes = option(given, kErrorBytes)) made.error_bytes = *bytes;
    if (void** const bytes = option(given, kInfoBytes)) made.info_bytes = *bytes;
    return kSuccess;
  });
}

int raddle_cuLinkAddData(Link* link, int type, const void* data, std::size_t bytes,
                         const char* name, unsigned count, const int* options, void** values) {
  return driver("cuLinkAddData", kCurrentContext, [&](Context& c) {
    if (data == nullptr) throw Failure{kInvalidValue};
    const std::string text(static_cast<const char*>(data), bytes);
    add_to_link(c, c.links.get(link), LinkInput{type}, text, name != nullptr ? name : "",
                log_of(c.links.get(link), jit_options(count, options, values)));
    return kSuccess;
  });
}

int raddle_cuLinkAddFile(Link* link, int type, const char* file, unsigned count, const int* options,
                         void** values) {
  return driver("cuLinkAddFile", kCurrentContext, [&](Context& c) {
    const std::string bytes = bytes_of_file(file);  // null is refused
    add_to_link(c, c.links.get(link), LinkInput{type}, bytes, file,
                log_of(c.links.get(link), jit_options(count, options, values)));
    return kSuccess;
  });
}

int raddle_cuLinkComplete(Link* link, void** image, std::size_t* bytes) {
  return driver("cuLinkComplete", kCurrentContext, [&](Context& c) {
    Link& all = c.links.get(link);
    if (all.sources.empty()) throw Failure{kInvalidValue};
    logged(c, log_of(all, {}), [&] { check_resolved(ptx::parse_and_link(all.sources)); });
    all.image = linked_image(all.sources);
    required(image) = all.image.data();
    if (bytes != nullptr) *bytes = all.image.size();
    return kSuccess;
  });
}

int raddle_cuLinkDestroy(Link* link) {
  return driver("cuLinkDestroy", kCurrentContext, [&](Context& c) {
    c.links.drop(link);
    return kSuccess;
  });
}

}  // extern "C"
