#include "burnin/agent/node/stages/erasure.h"

#include <algorithm>

#include "base/text.h"
#include "burnin/agent/node/stages/nvme_drives.h"

namespace cupel::agent {
namespace {

using burnin::SanitizeLog;

constexpr std::chrono::seconds kAskLimit{120};
constexpr int kMostLooks = 5;

// SANICAP, FNA and OACS, bit by bit.
constexpr std::uint64_t kCanCrypto = 1, kCanBlock = 2;
constexpr std::uint64_t kErasesAllSpaces = 2, kFormatsCrypto = 4;
constexpr std::uint64_t kCanFormat = 2, kManagesSpaces = 8;

std::optional<std::uint64_t> count_in(const JsonValue& object, std::string_view key) {
  const auto* value = object.find(key);
  return value == nullptr ? std::nullopt : value->count();
}

std::optional<double> bytes_in(const JsonValue& object, std::string_view key) {
  const auto* value = object.find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* bytes = value->number()) return *bytes;
  // 128 bits: some versions write them as a text.
  return value->text() == nullptr ? std::nullopt : number<double>(*value->text());
}

/// Of name spaces that are not attached nothing shows but the capacity that they take.
std::string hidden_spaces(const NvmeAbilities& can, double seen) {
  constexpr double kRoom = 1.02;  // what a name space takes beyond its size
  if ((can.oacs & kManagesSpaces) == 0 || (can.fna & kErasesAllSpaces) != 0) return {};
  if (!can.total || !can.unallocated)
    return "it does not report its capacity, so that name spaces may be hidden from format";
  if (*can.total - *can.unallocated <= seen * kRoom) return {};
  return "it has name spaces that this node does not see, which format would leave as they are: "
         "attach them (nvme attach-ns)";
}

double bytes_of(const Node& node, const std::vector<NvmeDrive>& spaces) {
  constexpr double kSector = 512;  // of /sys/block, whatever the drive's own
  double bytes = 0;
  for (const auto& space : spaces)
    bytes += kSector *
             number<double>(node.tree.text("/sys/block/" + space.space + "/size").value_or("0"))
                 .value_or(0);
  return bytes;
}

struct LogRead {
  Command command{};
  Ran ran{};
  std::optional<SanitizeLog> log{};
};

Work<LogRead> read_log(Node& node, std::string path) {
  LogRead read{.command = {.argv = {"nvme", "sanitize-log", path}, .limit = kAskLimit}};
  read.ran = co_await node.programs.run(read.command);
  if (read.ran.status == 0) read.log = burnin::read_sanitize_log(read.ran.out);
  co_return read;
}

/// What an earlier job, or somebody else, has left.
Work<bool> look_at_earlier(Node& node, Erasure& erasure) {
  const auto read = co_await read_log(node, erasure.path);
  node.lines.evidence("sanitize-log-before", erasure.drive, read.command, read.ran);
  if (!read.log) {
    erasure.eligible = false;
    erasure.why = "its sanitize log cannot be read: " + last_line_of(read.ran);
    co_return false;
  }
  erasure.before = read.log;
  const auto earlier = technique_of_action(read.log->action());
  const bool running = read.log->state() == SanitizeLog::kRunning;
  if (!running && !(read.log->is_done() && read.log->is_untouched())) co_return false;
  if (earlier.name.empty()) co_return false;
  erasure.technique = earlier;
  erasure.eligible = false;
  erasure.waits = erasure.began = true;  // the log that ends the wait is the evidence
  erasure.seen_running = running;
  co_return true;
}

/// A log may lag behind the command, and still tell of the erase before. With nothing written since
/// it tells of this one: no drive with such a log is begun.
bool may_be_older(const Erasure& erasure, const SanitizeLog& log) {
  if (!erasure.began || erasure.seen_running || log.is_untouched()) return false;
  return !erasure.before || log.reads_as(*erasure.before);
}

bool counts(Erasure& erasure, const SanitizeLog& log) {
  return !may_be_older(erasure, log) || ++erasure.looks >= kMostLooks;
}

void take_end(Erasure& erasure, const SanitizeLog& log) {
  erasure.waits = false;
  if (!erasure.began) return erasure.fail(erasure.why);
  if (log.is_done() && may_be_older(erasure, log)) {
    erasure.result = "unknown";
    erasure.why =
        "it took its sanitize, and its sanitize log still reads as before it: nothing tells the "
        "erase of now from the one before";
    return;
  }
  if (log.is_done() && log.action() == erasure.technique.action) {
    erasure.result = "erased";
    erasure.why.clear();
    erasure.verified = "sanitize log: completed";
    return;
  }
  erasure.fail(log.state() == SanitizeLog::kFailed
                   ? "the drive reports that its sanitize failed, and gives out no data until one "
                     "succeeds"
                   : "its sanitize log does not report that erase as completed");
}

/// A drive behind a network is not this machine's alone. Of two with one serial number nothing
/// tells which name space is whose.
std::string not_its_own(const Node& node, const Erasure& erasure) {
  const std::string folder = "/sys/class/nvme";
  const auto transport = node.tree.text(folder + "/" + erasure.drive + "/transport").value_or("");
  if (transport.empty()) return "the kernel does not report how it is attached (transport)";
  if (transport != "pcie")
    return "it is attached over " + transport + ", and is not this machine's";
  for (const auto& other : node.tree.names(folder))
    if (other != erasure.drive && serial_of(node, other) == erasure.serial)
      return other + " reports its serial number too: nothing tells the two apart";
  return {};
}

/// Why it is not the drive that was looked at, as it was then.
std::string changed_since(const Node& node, const Erasure& erasure) {
  for (const auto& space : erasure.spaces)
    if (auto why = stranger(node, space, erasure.serial); !why.empty()) return why;
  if (auto why = not_its_own(node, erasure); !why.empty()) return why;
  const auto now = spaces_of(node, erasure.drive);
  if (!std::ranges::equal(now, erasure.spaces, {}, &NvmeDrive::space, &NvmeDrive::space))
    return "its name spaces are not those that it had when it was looked at";
  return {};
}

/// A tree that was written by hand has files in place of devices, which nothing can mount.
bool is_written(const Node& node) { return node.tree.real("/") != "/"; }

std::string hold(Node& node, const Erasure& erasure, Grip& grip) {
  for (const auto& space : erasure.spaces) {
    auto held = node.scratch.hold("/dev/" + space.space, erasure.serial);
    if (!held.device && !(is_written(node) && held.why == Scratch::kNoBlockDevice))
      return space.space + " cannot be held: " + held.why;
    grip.push_back(std::move(held.device));
  }
  return {};
}

}  // namespace

std::string last_line_of(const Ran& ran) {
  std::string last;
  for (const auto line : lines(ran.out + "\n" + ran.err))
    if (!trimmed(line).empty()) last = trimmed(line);
  if (ran.late) return "it did not answer";
  return last.empty() ? "status " + std::to_string(ran.status) : shortened(printable(last), 200);
}

Technique technique_of_action(std::uint32_t action) {
  for (const auto& each : burnin::kEraseTechniques)
    if (action != 0 && each.action == action) return each;
  return {};
}

std::optional<NvmeAbilities> read_abilities(std::string_view json) {
  const auto read = JsonValue::parse(json);
  if (!read || read->object() == nullptr) return std::nullopt;
  const auto oacs = count_in(*read, "oacs"), fna = count_in(*read, "fna"),
             sanicap = count_in(*read, "sanicap");
  const auto* serial = read->find("sn");
  if (!oacs || !fna || !sanicap || serial == nullptr || serial->text() == nullptr)
    return std::nullopt;
  return NvmeAbilities{std::string{trimmed(*serial->text())},
                       *oacs,
                       *fna,
                       *sanicap,
                       bytes_in(*read, "tnvmcap"),
                       bytes_in(*read, "unvmcap")};
}

Choice choose(const NvmeAbilities& can, bool purge, double seen) {
  if ((can.sanicap & kCanCrypto) != 0) return {burnin::kSanitizeCrypto, {}};
  if ((can.sanicap & kCanBlock) != 0) return {burnin::kSanitizeBlock, {}};
  if ((can.oacs & kCanFormat) == 0)
    return {{}, "its controller has neither sanitize by cryptographic or block erase nor format"};
  const bool crypto = (can.fna & kFormatsCrypto) != 0;
  if (!crypto && purge)
    return {{},
            "its controller can only clear it (format, user data erase), and the step asks for a "
            "purge: method: any takes a clear too"};
  if (auto why = hidden_spaces(can, seen); !why.empty()) return {{}, std::move(why)};
  return {crypto ? burnin::kFormatCrypto : burnin::kFormatUser, {}};
}

Work<std::string> why_not_erased(Node& node, const Erasure& erasure) {
  if (erasure.spaces.empty())
    co_return "it has no name space here, by which it could be seen whether it is in use";
  for (const auto& space : erasure.spaces)
    if (auto why = co_await in_use(node, space); !why.empty()) co_return why;
  // Last: a name may pass to another drive while tools are asked.
  co_return changed_since(node, erasure);
}

Work<bool> may_begin(Node& node, Erasure& erasure, Grip& grip) {
  if (!erasure.eligible) co_return false;
  auto why = hold(node, erasure, grip);
  erasure.why = co_await why_not_erased(node, erasure);  // in more words than the kernel has
  if (erasure.why.empty()) erasure.why = std::move(why);
  erasure.eligible = erasure.why.empty();
  co_return erasure.eligible;
}

Work<bool> plan_erasure(Node& node, Erasure& erasure, bool purge) {
  erasure.serial = serial_of(node, erasure.drive);
  erasure.model = node.tree.text("/sys/class/nvme/" + erasure.drive + "/model").value_or("");
  erasure.path = node.tree.real("/dev/" + erasure.drive);
  erasure.spaces = spaces_of(node, erasure.drive);
  const Command command{.argv = {"nvme", "id-ctrl", erasure.path, "--output-format=json"},
                        .limit = kAskLimit};
  const auto ran = co_await node.programs.run(command);
  node.lines.evidence("id-ctrl", erasure.drive, command, ran);
  const auto can = ran.status == 0 ? read_abilities(ran.out) : std::nullopt;
  if (!can) {
    erasure.why = "nvme id-ctrl did not report what it can do: " + last_line_of(ran);
    co_return false;
  }
  if (erasure.serial.empty() || can->serial != erasure.serial) {
    erasure.why = "its serial number is '" + erasure.serial + "' for the kernel and '" +
                  can->serial + "' for nvme id-ctrl";
    co_return false;
  }
  if (erasure.why = not_its_own(node, erasure); !erasure.why.empty()) co_return false;
  auto choice = choose(*can, purge, bytes_of(node, erasure.spaces));
  erasure.technique = choice.technique;
  erasure.why = std::move(choice.why);
  erasure.eligible = erasure.why.empty();
  if (!erasure.eligible || erasure.technique.action == 0) co_return erasure.eligible;
  if (co_await look_at_earlier(node, erasure)) co_return true;
  co_return erasure.eligible;
}

Work<bool> begin_sanitize(Node& node, Erasure& erasure) {
  const Command command{.argv = {"nvme", "sanitize", erasure.path,
                                 "--sanact=" + std::to_string(erasure.technique.action)},
                        .limit = kAskLimit};
  const auto ran = co_await node.programs.run(command);
  node.lines.evidence("sanitize", erasure.drive, command, ran);
  erasure.began = ran.status == 0;
  if (!erasure.began) erasure.why = "the drive refused its sanitize: " + last_line_of(ran);
  erasure.waits = true;  // one whose answer was lost may run all the same
  co_return erasure.began;
}

Work<bool> look_at_sanitize(Node& node, Erasure& erasure) {
  const auto read = co_await read_log(node, erasure.path);
  if (!read.log) co_return false;  // asked again, until the stage's limit
  if (read.log->state() == SanitizeLog::kRunning) {
    if (!erasure.seen_running)
      node.lines.evidence("sanitize-log-running", erasure.drive, read.command, read.ran);
    erasure.began = erasure.seen_running = true;
    erasure.percent = read.log->percent();
    co_return false;
  }
  if (!counts(erasure, *read.log)) co_return false;
  node.lines.evidence("sanitize-log", erasure.drive, read.command, read.ran);
  take_end(erasure, *read.log);
  co_return true;
}

Work<bool> verify_erasure(Node& node, Erasure& erasure) {
  for (const auto& space : erasure.spaces) {
    // The kernel still has the partitions of the table that is gone.
    const Command again{.argv = {"blockdev", "--rereadpt", space.device}, .limit = kAskLimit};
    co_await node.programs.run(again);
    const auto found = co_await signatures(node, space);
    if (!found.empty()) {
      erasure.fail("after its erase " + found);
      co_return false;
    }
  }
  erasure.verified += "; no known signature is left (blkid, wipefs)";
  co_return true;
}

}  // namespace cupel::agent
