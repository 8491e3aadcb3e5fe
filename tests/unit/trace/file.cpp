// Op-stream files: what is written comes back word for word, and nothing that was cut or altered is
// accepted.
#include "raddle/trace/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "raddle/base/error.h"
#include "raddle/base/rng.h"
#include "raddle/trace/codec.h"
#include "raddle/trace/file_sections.h"
#include "raddle/trace/memory_trace.h"

namespace raddle::trace::file_test {
namespace {

using testing::HasSubstr;

std::shared_ptr<const KernelCode> some_code() {
  auto code = std::make_shared<KernelCode>();
  code->name = "k";
  code->file = "k.ptx";
  code->registers_per_thread = 20;
  code->opcode_names = {"add", "ld.global", "ld.shared"};
  StaticInst add, load, shared;
  add.writes = {1};
  add.reads = {2, 3};
  add.line = 5;
  load.kind = OpKind::LoadGlobal;
  load.op_class = OpClass::Memory;
  load.bytes = 4;
  load.opcode = 1;
  load.bypass_l1 = true;
  load.acquires = true;
  load.copy = CopyKind::Tensor;
  shared.kind = OpKind::LoadShared;
  shared.opcode = 2;
  code->instructions = {add, load, shared};
  code->instructions.resize(3 + kMaxRun, add);
  return code;
}

void add_random_warp(MemoryTrace& trace, Rng& rng, std::uint32_t block, unsigned warp,
                     unsigned records) {
  for (unsigned i = 0, n = 1 + rng.below(records); i < n; ++i) {
    const unsigned inst = rng.below(3);
    const unsigned transactions = inst == 1 ? rng.below(33) : inst == 2 ? 1 + rng.below(32) : 0;
    auto room = trace.grow(block, warp, kRecordWords + kTransactionWords * transactions);
    const auto mask = static_cast<LaneMask>(rng.next());
    const Record record = inst == 0 ? Record::make(3, 1 + rng.below(kMaxRun), 0, mask)
                                    : Record::make(inst, 1, transactions, mask);
    *room.at++ = record.head;
    *room.at++ = record.mask;
    for (unsigned p = 0; inst == 1 && p < 3 * transactions; ++p)
      *room.at++ = static_cast<std::uint32_t>(rng.next());
    trace.commit(block, warp, room.at);
  }
}

std::unique_ptr<MemoryTrace> random_trace(
    std::uint64_t seed, std::uint32_t blocks, unsigned records,
    const std::shared_ptr<const KernelCode>& code = some_code()) {
  auto trace = std::make_unique<MemoryTrace>(code, LaunchShape{{blocks}, {64}, 0});
  Rng rng(seed);
  for (std::uint32_t b = 0; b < blocks; ++b)
    for (unsigned w = 0; w < 2; ++w) add_random_warp(*trace, rng, b, w, records);
  return trace;
}

std::vector<std::uint32_t> words(KernelStream& stream, std::uint32_t block, unsigned warp) {
  std::vector<std::uint32_t> out;
  WarpCursor cursor = stream.open(block, warp);
  do out.insert(out.end(), cursor.at, cursor.end);
  while (cursor.at = cursor.end, stream.refill(cursor));
  return out;
}

/// Writes a launch that is in memory, block after block.
void add(FileWriter& writer, KernelStream& stream, const LaunchHeader& launch) {
  const LaunchShape& shape = stream.shape();
  StreamWriter& out = writer.begin(stream.code(), shape, launch);
  for (std::uint32_t block = 0; block < shape.grid.count(); ++block) {
    for (unsigned w = 0; w < shape.warps_per_block(); ++w) {
      const std::vector<std::uint32_t> all = words(stream, block, w);
      const auto room = out.grow(block, w, static_cast<unsigned>(all.size()));
      out.commit(block, w, std::ranges::copy(all, room.at).out);
    }
    out.finish(block);
  }
  writer.end(launch.warp_instructions, launch.thread_instructions);
}

class OpStreamFile : public testing::Test {
 protected:
  OpStreamFile()
      : folder(std::filesystem::temp_directory_path() /
               ("raddle_file_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder);
    path = (folder / "a.rdl").string();
  }
  ~OpStreamFile() override { std::filesystem::remove_all(folder); }

  void write(std::uint32_t blocks, unsigned records) {
    FileWriter writer(path, {{"workload", "w"}});
    for (std::uint64_t launch = 0; launch < 2; ++launch)
      add(writer, *random_trace(launch, blocks, records), {"k", launch, 0, 10, 320});
    writer.finish({{"verdict", "correct"}});
  }
  std::string bytes() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string error_with(const std::string& content) const {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
    try {
      FileReader reader(path);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder;
  std::string path;
};

TEST_F(OpStreamFile, ComesBackWordForWord) {
  write(300, 40);  // several sections
  const FileReader reader(path);
  EXPECT_EQ(reader.header()["workload"], "w");
  EXPECT_EQ(reader.trailer()["verdict"], "correct");
  ASSERT_EQ(reader.launches(), 2u);
  for (std::uint64_t launch = 0; launch < 2; ++launch) {
    EXPECT_EQ(reader.launch(launch).sequence, launch);
    const auto expected = random_trace(launch, 300, 40);
    const auto found = reader.open(launch);
    EXPECT_EQ(found->shape().grid.x, 300u);
    EXPECT_EQ(code_to_json(found->code()), code_to_json(expected->code()));
    for (std::uint32_t b : {299u, 0u, 150u, 151u, 7u})  // any order
      for (unsigned w : {1u, 0u})
        ASSERT_EQ(words(*found, b, w), words(*expected, b, w)) << b << " " << w;
  }
}

TEST_F(OpStreamFile, LaunchesOfTheSameKernelShareItsCode) {
  auto other = std::make_shared<KernelCode>(*some_code());
  other->registers_per_thread = 21;  // of the same name, as a program's two modules may have
  {
    FileWriter writer(path, {});
    for (std::uint64_t launch = 0; launch < 2; ++launch)
      add(writer, *random_trace(launch, 2, 4), {"k", launch, 0, 10, 320});
    add(writer, *random_trace(2, 2, 4, other), {"k", 2, 0, 0, 0});
    add(writer, *random_trace(3, 2, 4), {"k", 3, 0, 10, 320});
    writer.finish({});
  }
  const FileReader reader(path);
  ASSERT_EQ(reader.launches(), 4u);
  const auto code = [&](std::size_t i) { return &reader.open(i)->code(); };
  EXPECT_EQ(code(1), code(0));
  EXPECT_EQ(code(3), code(0));
  EXPECT_EQ(*code(0), *some_code());
  EXPECT_EQ(*code(2), *other);
}

TEST_F(OpStreamFile, ACodeThatNoEarlierLaunchHasIsRefused) {
  std::string file(kFileMagic);
  file.append(reinterpret_cast<const char*>(&kFileVersion), sizeof kFileVersion);
  const auto add_section = [&](SectionKind kind, const std::string& raw) {
    std::string packed(ZSTD_compressBound(raw.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), raw.data(), raw.size(), 1));
    const SectionHeader header = seal(kind, static_cast<std::uint32_t>(raw.size()), packed);
    file.append(reinterpret_cast<const char*>(&header), sizeof header).append(packed);
  };
  add_section(SectionKind::Header, "{}");
  add_section(
      SectionKind::Launch,
      R"({"name":"k","sequence":0,"stream":0,"operations":[],"grid":[1,1,1],"block":[32,1,1],)"
      R"("dynamic_shared_bytes":0,"code":0})");
  EXPECT_THAT(error_with(file), HasSubstr("a launch has the code of a later one"));
}

TEST_F(OpStreamFile, KeepsWhatIsAllocatedAndWhatArgumentsPointTo) {
  const AllocationChanges some = {{0x2000, 0x800},
                                  {{0x1000, 64, "", 7}, {0x1100, 4, "a \"variable\""}}};
  {
    FileWriter writer(path, {});
    LaunchHeader first{"k", 0}, second{"k", 1};
    first.allocations = some;
    first.pointers = {{3, 0x1104}};
    add(writer, *random_trace(1, 1, 4), first);
    add(writer, *random_trace(2, 1, 4), second);
    writer.finish({});
  }
  const FileReader reader(path);
  EXPECT_EQ(reader.launch(0).allocations, some);
  ASSERT_EQ(reader.launch(0).pointers.size(), 1u);
  EXPECT_EQ(reader.launch(0).pointers[0].argument, 3u);
  EXPECT_EQ(reader.launch(0).pointers[0].at, 0x1104u);
  EXPECT_TRUE(reader.launch(1).allocations.empty()) << "as the launch before has found it";
  EXPECT_TRUE(reader.launch(1).pointers.empty());
}

TEST(AllocationsInJson, ThatCannotBeAreRefused) {
  const auto read = [](const std::string& made, const std::string& freed = "[]") {
    return changes_from_json(
        nlohmann::ordered_json::parse(R"({"freed":)" + freed + R"(,"made":)" + made + "}"));
  };
  EXPECT_EQ(read(R"([[0,1,"",1],[1,1,"v",0],[549755813760,128,"",2]])", "[7]").made.size(), 3u);
  for (const char* wrong :
       {R"([[549755813760,129,"",1]])", R"([[18446744073709551615,1,"",1]])",
        R"([[1,18446744073709551615,"",1]])", R"([[-1,1,"",1]])", R"([[0,1,"",-1]])"})
    EXPECT_THROW(read(wrong), InputError) << wrong;
  EXPECT_THROW(read("[]", "[-1]"), InputError);
  EXPECT_THROW(read("[]", "7"), InputError);
  for (const char* wrong :
       {R"([[0,1]])", R"([[0,1,7,1]])", R"([[0,1,""]])", R"([7])", R"({"a":1})", "7"})
    EXPECT_ANY_THROW(read(wrong)) << wrong;
}

TEST_F(OpStreamFile, SectionsAreDroppedAndCanBeReadAgain) {
  write(300, 40);
  const FileReader reader(path);
  const auto stream = reader.open(0);
  const auto first = words(*stream, 0, 0);
  for (std::uint32_t b = 0; b < 300; ++b) {
    stream->open(b, 0);
    stream->close(b);
  }
  EXPECT_EQ(words(*stream, 0, 0), first);
}

TEST_F(OpStreamFile, IsMuchSmallerThanItsWords) {
  MemoryTrace trace(some_code(), {{64}, {32}, 0});
  std::uint64_t raw = 0;
  for (std::uint32_t b = 0; b < 64; ++b)
    for (unsigned i = 0; i < 500; ++i, raw += 20) {  // a coalesced walk
      auto room = trace.grow(b, 0, 5);
      const Record record = Record::make(1, 1, 1, kFullMask);
      for (std::uint32_t word : {record.head, record.mask, b * 500 + i, ~0u, kFullMask})
        *room.at++ = word;
      trace.commit(b, 0, room.at);
    }
  FileWriter writer(path, {});
  add(writer, trace, {});
  writer.finish({});
  EXPECT_LT(std::filesystem::file_size(path), raw / 50);
}

/// zstd makes 1/10,000 of a long loop: the file stays large enough for what a reader needs for it.
TEST_F(OpStreamFile, OfALongLoopIsReadThough) {
  constexpr unsigned kRecords = 2'000'000;
  MemoryTrace trace(some_code(), {{1}, {32}, 0});
  for (unsigned i = 0; i < kRecords; ++i) {
    auto room = trace.grow(0, 0, 2);
    *room.at++ = Record::make(0, 1, 0, kFullMask).head;
    *room.at++ = kFullMask;
    trace.commit(0, 0, room.at);
  }
  {
    FileWriter writer(path, {});
    add(writer, trace, {});
    writer.finish({});
  }
  EXPECT_GT(1024 * std::filesystem::file_size(path), 8 * kRecords);
  const FileReader reader(path);
  EXPECT_EQ(words(*reader.open(0), 0, 0).size(), 2 * kRecords);
}

TEST_F(OpStreamFile, EveryTruncationIsRefusedWithItsPlace) {
  write(20, 5);
  const std::string whole = bytes();
  ASSERT_GT(whole.size(), 500u);
  for (std::size_t size = 0; size < whole.size(); size += 1 + size / 40) {
    const std::string error = error_with(whole.substr(0, size));
    EXPECT_THAT(error, HasSubstr("byte ")) << size;
    EXPECT_THAT(error, testing::AnyOf(HasSubstr("truncated"), HasSubstr("too short"))) << size;
  }
  EXPECT_EQ(error_with(whole), "");
}

TEST_F(OpStreamFile, EveryAlteredByteIsRefused) {
  write(20, 5);
  const std::string whole = bytes();
  for (std::size_t at = 0; at < whole.size(); at += 1 + at / 60) {
    std::string altered = whole;
    altered[at] = static_cast<char>(altered[at] ^ 0x10);
    EXPECT_NE(error_with(altered), "") << at;
  }
  EXPECT_THAT(error_with(whole + "x"), HasSubstr("after the end"));
}

TEST_F(OpStreamFile, OtherFilesAndVersionsAreRefusedByName) {
  EXPECT_THAT(error_with("hello, this is some text file"),
              HasSubstr("not a Raddle op-stream file"));
  EXPECT_THAT(error_with(std::string("RADDLE\r\n\x09\0\0\0 and more", 21)),
              testing::AllOf(HasSubstr("version 9"),
                             HasSubstr("versions 7 to " + std::to_string(kFileVersion))));
  EXPECT_THROW(FileReader("/no/such.rdl"), InputError);
  EXPECT_THROW(FileReader("/tmp"), InputError);
}

TEST_F(OpStreamFile, OneOfTheVersionBeforeIsRead) {
  write(20, 5);
  std::string old = bytes();
  ASSERT_EQ(old[kFileMagic.size()], static_cast<char>(kFileVersion));
  old[kFileMagic.size()] = static_cast<char>(kOldestFileVersion);
  EXPECT_EQ(error_with(old), "");
  old[kFileMagic.size()] = static_cast<char>(kOldestFileVersion - 1);
  EXPECT_THAT(error_with(old), HasSubstr("versions 7 to 8"));
}

TEST_F(OpStreamFile, NothingIsLeftWithoutFinish) {
  {
    FileWriter writer(path, {});
    add(writer, *random_trace(1, 3, 5), {});
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_THROW(FileWriter("/no/such/folder/x.rdl", {}), InputError);
  EXPECT_THROW(FileWriter("/dev/null", {}), InputError);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(OpStreamFile, BlocksThatEndInAnyOrderAreWrittenInTheirs) {
  const auto expected = random_trace(3, 40, 8);
  FileWriter writer(path, {});
  StreamWriter& out = writer.begin(expected->code(), expected->shape(), {"k", 0, 0, 0, 0});
  // Warps take turns in small steps; blocks end from the last to the first of each dozen.
  for (std::uint32_t first = 0; first < 40; first += 12) {
    const std::uint32_t end = std::min(first + 12, 40u);
    for (unsigned w = 0; w < 2; ++w)
      for (std::uint32_t b = first; b < end; ++b) {
        const auto all = words(*expected, b, w);
        StreamWriter::Room room;
        for (std::size_t i = 0; i < all.size(); ++i) {
          if (room.at == room.end) room = out.grow(b, w, 3);
          *room.at++ = all[i];
          if (i % 7 == 0 || i + 1 == all.size()) out.commit(b, w, room.at);
          if (room.at == room.end) out.commit(b, w, room.at);
        }
      }
    for (std::uint32_t b = end; b-- > first;) out.finish(b);
  }
  writer.end(10, 320);
  writer.finish({});
  const FileReader reader(path);
  EXPECT_EQ(reader.launch(0).warp_instructions, 10u);
  EXPECT_EQ(reader.launch(0).thread_instructions, 320u);
  const auto found = reader.open(0);
  for (std::uint32_t b = 0; b < 40; ++b)
    for (unsigned w = 0; w < 2; ++w) ASSERT_EQ(words(*found, b, w), words(*expected, b, w));
}

TEST_F(OpStreamFile, AFullDiskIsToldAndNothingIsLeft) {
  // A limit on file size stands for it: while blocks are written, and only when the file is closed.
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  for (const auto& [blocks, limit] : {std::pair{300u, 20'000u}, std::pair{3u, 1'000u}}) {
    rlimit small = before;
    small.rlim_cur = limit;
    setrlimit(RLIMIT_FSIZE, &small);
    std::string error;
    try {
      write(blocks, 40);
    } catch (const RunError& e) {
      error = e.what();
    }
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_THAT(error, testing::AllOf(HasSubstr("cannot write"), HasSubstr("File too large")));
    EXPECT_TRUE(std::filesystem::is_empty(folder));
  }
}

// Raddle record writes in the process of the user's program, which forks: what exit() does there.
TEST_F(OpStreamFile, ACopyOfTheProcessWritesNothing) {
  FileWriter writer(path, {{"workload", "w"}});
  add(writer, *random_trace(1, 3, 40), {"k", 0, 0, 10, 320});
  const pid_t child = fork();
  if (child == 0) {
    std::fflush(nullptr);
    bool refused = false;
    try {
      writer.finish({{"verdict", "correct"}});
    } catch (const RunError& error) {
      refused = std::string(error.what()).find("a copy, made by fork") != std::string::npos;
    }
    _exit(refused ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  writer.finish({{"verdict", "correct"}});
  EXPECT_EQ(FileReader(path).launches(), 1u);
}

// It closes descriptors that it has not opened, too, and its own files get their numbers.
TEST_F(OpStreamFile, GoesIntoNoOtherFileThatHasItsDescriptor) {
  const std::string own = (folder / "own").string();
  const int free = open("/dev/null", O_RDONLY);
  close(free);  // the next one
  for (const bool with_data : {false, true}) {
    FileWriter writer(path, {{"workload", "w"}});
    if (with_data) add(writer, *random_trace(1, 300, 40), {"k", 0, 0, 10, 320});
    close(free);
    ASSERT_EQ(open(own.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), free);
    try {
      writer.finish({{"verdict", "correct"}});
      ADD_FAILURE();
    } catch (const RunError& error) {
      EXPECT_THAT(error.what(), HasSubstr("the program has closed its descriptor"));
    }
    EXPECT_EQ(::write(free, "mine", 4), 4) << "it is not closed";
    EXPECT_EQ(std::filesystem::file_size(own), 4u);
    EXPECT_FALSE(std::filesystem::exists(path));
    close(free);
  }
}

TEST(Codec, RefusesWhatDoesNotFitTheKernel) {
  const auto code = some_code();
  const BlockBatch batch{0, 1, {Record::make(1, 1, 2, 3).head, 3, 1, 2, 3, 4, 5, 6}, {0, 8}};
  const std::string good = encode(batch, *code);
  EXPECT_EQ(decode(good, *code, 1).words, batch.words);
  EXPECT_THROW(decode(good, *code, 2), InputError);
  EXPECT_THROW(decode(good.substr(0, good.size() - 4), *code, 1), InputError);
  EXPECT_THROW(decode(good + "four", *code, 1), InputError);
  KernelCode shorter = *code;
  shorter.instructions.resize(1);
  EXPECT_THROW(decode(good, shorter, 1), InputError);
  for (const Record bad : {Record::make(1, 0, 0, 3), Record::make(64, 3, 0, 3)})
    EXPECT_THROW(encode({0, 1, {bad.head, bad.mask}, {0, 2}}, *code), InputError);
  EXPECT_THROW(decode(encode({0, 1, {}, {0, 0}}, *code), *code, 1), InputError);
}

KernelCode with_operands() {
  KernelCode code = *some_code();
  code.register_bytes = {4, 8, 0};
  StaticInst& in = code.instructions[0];
  in.operands = {{Operand::Kind::Guard, 2, 0},
                 {Operand::Kind::Write, 0, 0},
                 {Operand::Kind::Immediate, kNoRegister, -5}};
  in.jumps = true;
  in.next = {1, 2};
  code.instructions[2].alias_of = 1;
  return code;
}

TEST(CodeJson, KeepsWhatLoweringNeeds) {
  const KernelCode back = code_from_json(code_to_json(with_operands()));
  EXPECT_EQ(back.register_bytes, (std::vector<std::uint8_t>{4, 8, 0}));
  const StaticInst& in = back.instructions[0];
  ASSERT_EQ(in.operands.size(), 3u);
  EXPECT_EQ(in.operands[0].kind, Operand::Kind::Guard);
  EXPECT_EQ(in.operands[0].reg, 2u);
  EXPECT_EQ(in.operands[2].value, -5);
  EXPECT_TRUE(in.jumps);
  EXPECT_EQ(in.next, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(back.instructions[2].alias_of, 1u);
  EXPECT_EQ(back.instructions[1].alias_of, kNoRegister);
}

TEST(CodeJson, SourceLinesAreKeptWhereTheyAreKnown) {
  KernelCode code = with_operands();
  EXPECT_FALSE(code_to_json(code).contains("source_files"));
  code.source_files = {"a.cu", "b.h"};
  code.instructions[1].source = {1, 40};
  const nlohmann::ordered_json json = code_to_json(code);
  EXPECT_EQ(code_from_json(json), code);
  EXPECT_EQ(json["instructions"][0].size(), 12u) << "as in recordings of before";
  nlohmann::ordered_json broken = json;
  broken["instructions"][1][12] = {2, 40};
  EXPECT_THROW(code_from_json(broken), InputError) << "there is no third file";
  broken["instructions"][1][12] = {1};
  EXPECT_ANY_THROW(code_from_json(broken));
}

TEST(CodeJson, RegistersOfMachineCodeAreKeptWhereTheyAreKnown) {
  KernelCode code = with_operands();
  EXPECT_FALSE(code_to_json(code).contains("compiled_registers"));
  EXPECT_EQ(code_from_json(code_to_json(code)), code);
  code.compiled_registers = {{75, 40}, {90, 255}};
  EXPECT_EQ(code_from_json(code_to_json(code)), code);
  auto json = code_to_json(code);
  for (const auto& bad : {nlohmann::json{{75}}, nlohmann::json{{75, -1}}, nlohmann::json{{75, 256}},
                          nlohmann::json{{75, 0}}, nlohmann::json("many")}) {
    json["compiled_registers"] = bad;
    EXPECT_ANY_THROW(code_from_json(json)) << bad;
  }
}

TEST(CodeJson, CopiesAreOfWhatReachesGlobalMemoryOrTellsObjects) {
  for (unsigned kind = 0; kind < kOpKinds; ++kind) {
    KernelCode code = *some_code();
    code.instructions[2].kind = static_cast<OpKind>(kind);
    code.instructions[2].copy = CopyKind::Bulk;
    const bool may = code.instructions[2].kind == OpKind::LoadGlobal ||
                     code.instructions[2].kind == OpKind::StoreGlobal ||
                     code.instructions[2].kind == OpKind::ReduceGlobal ||
                     code.instructions[2].kind == OpKind::BarrierObject;
    if (may) EXPECT_EQ(code_from_json(code_to_json(code)), code) << kind;
    else EXPECT_THROW(code_from_json(code_to_json(code)), InputError) << kind;
    code.instructions[2].writes = {7};
    EXPECT_THROW(code_from_json(code_to_json(code)), InputError) << "nobody would write it";
  }
}

TEST(CodeJson, RegistersAndTargetsThatAreNotThereAreRefused) {
  KernelCode code = with_operands();
  code.instructions[0].operands[0].reg = 3;
  EXPECT_THROW(code_from_json(code_to_json(code)), InputError);
  code = with_operands();
  code.instructions[0].next = {static_cast<std::uint32_t>(code.instructions.size())};
  EXPECT_THROW(code_from_json(code_to_json(code)), InputError);
  code = with_operands();
  code.instructions[2].alias_of = static_cast<std::uint32_t>(code.instructions.size());
  EXPECT_THROW(code_from_json(code_to_json(code)), InputError);
}

}  // namespace
}  // namespace raddle::trace::file_test
