#include "raddle/trace/codec.h"

#include <cstring>

#include "raddle/base/error.h"
#include "raddle/trace/json_numbers.h"

namespace raddle::trace {

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void broken(const std::string& what) {
  throw InputError("op stream does not fit its kernel: " + what);
}

/// Payload pieces of a record; 0 for records whose `pieces` is only a count.
unsigned payload(const Record& record, const KernelCode& code) {
  if (record.count() == 0 || record.inst() + record.count() > code.instructions.size())
    broken("instruction " + std::to_string(record.inst()));
  return carries_transactions(code.instructions[record.inst()].kind) ? record.transactions() : 0;
}

class Columns {
 public:
  std::vector<std::uint32_t> heads, masks, lines, words, lanes;
  std::array<std::vector<std::uint32_t>*, 5> all() {
    return {&heads, &masks, &lines, &words, &lanes};
  }
};

/// What the timing model relies on beside the sizes (stream.h). Of a record whose instructions are
/// there.
void check(const Record& record, const KernelCode& code, unsigned warps_per_block) {
  const OpKind kind = code.instructions[record.inst()].kind;
  const bool alone = kind != OpKind::Alu && kind != OpKind::Branch;
  if (alone && record.count() != 1) broken("instructions of a record");
  if (!alone)
    for (std::uint32_t i = 1; i < record.count(); ++i)
      if (const OpKind other = code.instructions[record.inst() + i].kind;
          other != OpKind::Alu && other != OpKind::Branch)
        broken("instructions of a record");
  if (kind == OpKind::Barrier) {
    const BarrierRecord barrier{record.mask};
    if (barrier.kind() > BarrierKind::Warp || barrier.expected_warps() > warps_per_block)
      broken("barrier");
  }
}

void check(const Transaction& transaction) {
  if (transaction.words == 0 || transaction.lanes == 0) broken("words or lanes of a piece");
}

/// Numbers in a text, which need not be aligned there.
class Numbers {
 public:
  explicit Numbers(const char* at) : at_(at) {}
  std::uint32_t operator[](std::size_t i) const {
    std::uint32_t n = 0;
    std::memcpy(&n, at_ + i * sizeof n, sizeof n);
    return n;
  }

 private:
  const char* at_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  std::uint32_t number() { return array(1)[0]; }
  /// The next `count` numbers, where they are.
  Numbers array(std::size_t count) {
    const std::size_t bytes = count * sizeof(std::uint32_t);
    if (bytes_.size() < bytes) broken("section too short");
    const Numbers out(bytes_.data());
    bytes_.remove_prefix(bytes);
    return out;
  }
  bool empty() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

void append(std::string& out, const std::uint32_t* values, std::size_t count) {
  out.append(reinterpret_cast<const char*>(values), count * sizeof(std::uint32_t));
}

}  // namespace

std::string encode(const BlockBatch& batch, const KernelCode& code) {
  Columns columns;
  std::vector<std::uint32_t> records;  // per warp
  for (std::size_t w = 0; w + 1 < batch.start.size(); ++w) {
    std::uint32_t last_line = 0, count = 0;
    for (std::uint32_t at = batch.start[w]; at < batch.start[w + 1]; ++count) {
      const Record record{batch.words[at], batch.words[at + 1]};
      columns.heads.push_back(record.head);
      columns.masks.push_back(record.mask);
      at += kRecordWords;
      for (unsigned p = payload(record, code); p > 0; --p, at += kTransactionWords) {
        columns.lines.push_back(batch.words[at] - last_line);  // wraps; undone by decode
        last_line = batch.words[at];
        columns.words.push_back(batch.words[at + 1]);
        columns.lanes.push_back(batch.words[at + 2] ^
                                record.mask);  // mostly 0: one piece has every lane
      }
    }
    records.push_back(count);
  }
  std::string out;
  const std::uint32_t head[] = {batch.first_block, batch.blocks,
                                static_cast<std::uint32_t>(records.size()),
                                static_cast<std::uint32_t>(columns.heads.size()),
                                static_cast<std::uint32_t>(columns.lines.size())};
  append(out, head, std::size(head));
  append(out, records.data(), records.size());
  for (const auto* column : columns.all()) append(out, column->data(), column->size());
  return out;
}

BlockBatch decode(std::string_view bytes, const KernelCode& code, unsigned warps_per_block) {
  ByteReader in(bytes);
  BlockBatch batch;
  batch.first_block = in.number();
  batch.blocks = in.number();
  const std::uint32_t warps = in.number(), n_records = in.number(), n_transactions = in.number();
  if (warps != std::uint64_t{batch.blocks} * warps_per_block) broken("number of warps");
  const Numbers records = in.array(warps), heads = in.array(n_records), masks = in.array(n_records),
                lines = in.array(n_transactions), words = in.array(n_transactions),
                lanes = in.array(n_transactions);
  if (!in.empty()) broken("bytes left over");
  batch.words.reserve(std::size_t{n_records} * kRecordWords +
                      std::size_t{n_transactions} * kTransactionWords);
  std::size_t next_record = 0, next_transaction = 0;
  batch.start.push_back(0);
  for (std::uint32_t warp = 0; warp < warps; ++warp) {
    const std::uint32_t count = records[warp];
    std::uint32_t line = 0;
    if (count == 0 || count > n_records - next_record) broken("records of a warp");
    for (std::uint32_t i = 0; i < count; ++i, ++next_record) {
      const Record record{heads[next_record], masks[next_record]};
      batch.words.push_back(record.head);
      batch.words.push_back(record.mask);
      const unsigned transactions = payload(record, code);
      check(record, code, warps_per_block);
      if (transactions > n_transactions - next_transaction) broken("pieces of a record");
      for (unsigned k = 0; k < transactions; ++k, ++next_transaction) {
        line += lines[next_transaction];
        const Transaction transaction{line, words[next_transaction],
                                      lanes[next_transaction] ^ record.mask};
        check(transaction);
        batch.words.insert(batch.words.end(),
                           {transaction.line, transaction.words, transaction.lanes});
      }
    }
    batch.start.push_back(static_cast<std::uint32_t>(batch.words.size()));
  }
  if (next_record != n_records || next_transaction != n_transactions) broken("records left over");
  return batch;
}

namespace {

constexpr unsigned kCopyShift = 3;

/// A truth value where it orders nothing and is no copy: so are recordings of before.
Json access_to_json(const StaticInst& inst) {
  if (!inst.acquires && !inst.releases && inst.copy == CopyKind::None) return inst.bypass_l1;
  return (inst.bypass_l1 ? 1u : 0u) | (inst.acquires ? 2u : 0u) | (inst.releases ? 4u : 0u) |
         static_cast<unsigned>(inst.copy) << kCopyShift;
}

void read_access(const Json& json, StaticInst& inst) {
  if (json.is_boolean()) {
    inst.bypass_l1 = json.get<bool>();
    return;
  }
  const auto bits = number<unsigned>(json);
  if (bits >> kCopyShift > static_cast<unsigned>(CopyKind::Tensor)) broken("order of an access");
  inst.bypass_l1 = (bits & 1) != 0;
  inst.acquires = (bits & 2) != 0;
  inst.releases = (bits & 4) != 0;
  inst.copy = static_cast<CopyKind>(bits >> kCopyShift);
}

}  // namespace

Json code_to_json(const KernelCode& code) {
  Json out = {{"name", code.name},
              {"file", code.file},
              {"registers_per_thread", code.registers_per_thread},
              {"static_shared_bytes", code.static_shared_bytes},
              {"local_bytes_per_thread", code.local_bytes_per_thread},
              {"opcode_names", code.opcode_names},
              {"register_bytes", code.register_bytes}};
  // Left out where nothing is known: so are recordings of before.
  for (const auto& [capability, registers] : code.compiled_registers)
    out["compiled_registers"].push_back({capability, registers});
  if (!code.source_files.empty()) out["source_files"] = code.source_files;
  Json& list = out["instructions"] = Json::array();
  for (const StaticInst& i : code.instructions) {
    Json operands = Json::array();
    for (const Operand& o : i.operands)
      operands.push_back({static_cast<unsigned>(o.kind), o.reg, o.value});
    list.push_back({static_cast<unsigned>(i.kind), static_cast<unsigned>(i.op_class), i.bytes,
                    access_to_json(i), i.reads, i.writes, i.line, i.opcode, std::move(operands),
                    i.jumps, i.next, i.alias_of});
    if (i.source.line != 0) list.back().push_back({i.source.file, i.source.line});
  }
  return out;
}

namespace {

/// What lowering needs, bounds checked: a file may come from anywhere.
void read_operands(const Json& json, const KernelCode& code, std::size_t size, StaticInst& inst) {
  for (const Json& o : json.at(8)) {
    const auto kind = number<unsigned>(o.at(0));
    const auto reg = number<std::uint32_t>(o.at(1));
    if (kind > static_cast<unsigned>(Operand::Kind::Other) ||
        (reg != kNoRegister && reg >= code.register_bytes.size()))
      broken("operand");
    inst.operands.push_back({static_cast<Operand::Kind>(kind), reg, signed_number(o.at(2))});
  }
  inst.jumps = json.at(9).get<bool>();
  inst.next = numbers<std::uint32_t>(json.at(10));
  inst.alias_of = number<std::uint32_t>(json.at(11));
  for (std::uint32_t to : inst.next)
    if (to >= size) broken("branch target");
  if (inst.alias_of != kNoRegister && inst.alias_of >= size) broken("alias");
}

/// Of what can be part of a copy that a unit of the SM makes: it reaches global memory or tells
/// barrier objects, and no register waits for it.
bool may_be_copy(const StaticInst& inst) {
  switch (inst.kind) {
    case OpKind::LoadGlobal:
    case OpKind::StoreGlobal:
    case OpKind::ReduceGlobal:
    case OpKind::BarrierObject:
      return inst.writes.empty();
    default:
      return false;
  }
}

/// Left out where it is not known: so are recordings of before.
void read_source(const Json& json, const KernelCode& code, StaticInst& inst) {
  if (json.size() < 13) return;
  inst.source.file = number<std::uint32_t>(json.at(12).at(0));
  inst.source.line = number<std::uint32_t>(json.at(12).at(1));
  if (inst.source.file >= code.source_files.size()) broken("source file");
}

}  // namespace

KernelCode code_from_json(const Json& json) {
  KernelCode code;
  code.name = json.at("name");
  code.file = json.at("file");
  code.registers_per_thread = number<std::uint32_t>(json.at("registers_per_thread"));
  for (const Json& known : json.value("compiled_registers", Json::array())) {
    const auto registers = number<std::uint32_t>(known.at(1));
    if (registers == 0 || registers > 255) broken("registers of machine code");
    code.compiled_registers[number<std::uint32_t>(known.at(0))] = registers;
  }
  code.source_files = json.value("source_files", std::vector<std::string>());
  code.static_shared_bytes = number<std::uint32_t>(json.at("static_shared_bytes"));
  code.local_bytes_per_thread = number<std::uint32_t>(json.at("local_bytes_per_thread"));
  code.opcode_names = json.at("opcode_names").get<std::vector<std::string>>();
  code.register_bytes = numbers<std::uint8_t>(json.at("register_bytes"));
  const std::size_t size = json.at("instructions").size();
  if (size > kMaxInstructions) broken("number of instructions");
  for (const Json& i : json.at("instructions")) {
    StaticInst inst;
    const auto kind = number<unsigned>(i.at(0)), op_class = number<unsigned>(i.at(1));
    if (kind >= kOpKinds || op_class >= kOpClasses) broken("unknown kind of instruction");
    inst.kind = static_cast<OpKind>(kind);
    inst.op_class = static_cast<OpClass>(op_class);
    inst.bytes = number<std::uint16_t>(i.at(2));
    read_access(i.at(3), inst);
    inst.reads = numbers<std::uint8_t>(i.at(4));
    inst.writes = numbers<std::uint8_t>(i.at(5));
    inst.line = number<std::uint32_t>(i.at(6));
    inst.opcode = number<std::uint16_t>(i.at(7));
    if (inst.opcode >= code.opcode_names.size()) broken("opcode name");
    if (inst.copy != CopyKind::None && !may_be_copy(inst)) broken("kind of a copy");
    read_operands(i, code, size, inst);
    read_source(i, code, inst);
    code.instructions.push_back(std::move(inst));
  }
  return code;
}

Json origin_to_json(const DeviceOrigin& origin) {
  return {{"parent", origin.parent}, {"block", origin.block},
          {"warp", origin.warp},     {"call", origin.call},
          {"depth", origin.depth},   {"tail", origin.tail},
          {"after", origin.after},   {"parameters", {origin.parameters, origin.parameter_bytes}}};
}

DeviceOrigin origin_from_json(const Json& json) {
  DeviceOrigin out;
  const auto get = [&](const char* key) { return number<std::uint32_t>(json.at(key)); };
  out.parent = get("parent");
  out.block = get("block");
  out.warp = get("warp");
  out.call = get("call");
  out.depth = get("depth");
  out.tail = json.at("tail").get<bool>();
  out.after = numbers<std::uint32_t>(json.at("after"));
  const Json& parameters = json.at("parameters");
  out.parameters = number<Address>(parameters.at(0));
  out.parameter_bytes = number<std::uint32_t>(parameters.at(1));
  return out;
}

Json changes_to_json(const AllocationChanges& changes) {
  Json made = Json::array();
  for (const Allocation& a : changes.made) made.push_back({a.at, a.bytes, a.variable, a.number});
  return {{"freed", changes.freed}, {"made", std::move(made)}};
}

AllocationChanges changes_from_json(const Json& json) {
  constexpr Address kEnd = Address{kLineBytes} << 32;
  AllocationChanges out;
  out.freed = numbers<Address>(json.at("freed"));
  for (const Json& one : json.at("made")) {
    Allocation a;
    a.at = number<Address>(one.at(0), kEnd);
    a.bytes = number<std::uint64_t>(one.at(1), kEnd - a.at);
    a.variable = one.at(2).get<std::string>();
    a.number = number<std::uint64_t>(one.at(3));
    out.made.push_back(std::move(a));
  }
  return out;
}

Json pointers_to_json(const std::vector<PointerArgument>& pointers) {
  Json out = Json::array();
  for (const PointerArgument& p : pointers) out.push_back({p.argument, p.at});
  return out;
}

std::vector<PointerArgument> pointers_from_json(const Json& json) {
  std::vector<PointerArgument> out;
  for (const Json& one : json)
    out.push_back({number<std::uint32_t>(one.at(0)), number<Address>(one.at(1))});
  return out;
}

}  // namespace raddle::trace
