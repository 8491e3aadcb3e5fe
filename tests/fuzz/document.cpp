// libFuzzer target: JSON documents that the program reads: of reproduced papers (raddle report),
// specifications of cells, configurations, and results as the laboratory's database keeps them. The
// mutator changes them value by value. Invariant: accepted, or refused by InputError or RunError;
// a document that is accepted can be drawn.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "raddle/base/error.h"
#include "raddle/base/json.h"
#include "raddle/config/tree.h"
#include "raddle/lab/plan/cell.h"
#include "raddle/lab/store/store.h"
#include "raddle/report/document.h"
#include "raddle/report/reproduction.h"
#include "support/json_mutator.h"

using namespace raddle;

namespace {

/// An error quotes what it found, but no words of the library that parses, unless they are the
/// text's own: the fuzzer knows them from the comparison below.
template <class Read>
void read(const std::string& text, Read reader) {
  static constexpr std::string_view kLibrary = "json.exception";
  try {
    reader();
  } catch (const InputError& error) {
    RADDLE_ASSERT(std::string_view(error.what()).find(kLibrary) == std::string_view::npos ||
                  text.find(kLibrary) != text.npos);
  } catch (const RunError&) {
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max, unsigned seed) {
  Rng rng(seed);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  test::MutableJson json = test::MutableJson::parse(text, nullptr, false);
  if (json.is_discarded() || rng.below(16) == 0) return LLVMFuzzerMutate(data, size, max);
  for (unsigned changes = 1 + rng.below(3); changes > 0; --changes) test::mutate(json, rng);
  const std::string out = json.dump(-1, ' ', false, test::MutableJson::error_handler_t::replace);
  if (out.size() > max) return size;
  std::memcpy(data, out.data(), out.size());
  return out.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read(text, [&] {
    const nlohmann::ordered_json json = parse_json(text, "fuzz.json");
    read(text, [&] { lab::read_cell(json, "fuzz.json"); });
    report::read_document(json, "fuzz.json");
    report::reproduction_text(json);
    report::index_data(std::span(&json, 1));
  });
  read(text, [&] { config::Tree::from_json(text, "fuzz.json"); });
  // As a blob of a database that somebody else has written.
  std::string inside;
  read(inside, [&] { parse_json(inside = lab::decompressed(text), "a stored result"); });
  return 0;
}
