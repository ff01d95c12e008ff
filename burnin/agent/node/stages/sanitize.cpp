// NVMe drives erase themselves, all at once, and each is followed until its log or its tool says
// how that ended. Looks before it begins anything: what an earlier job began is followed, what has
// ended with nothing written since is not repeated. Touches no drive that is in use.
#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "burnin/agent/node/stages/erasure.h"
#include "burnin/agent/node/stages/nvme_drives.h"
#include "burnin/agent/node/stages/order.h"

namespace cupel::agent {
namespace {

constexpr std::chrono::milliseconds kFirstLook{250}, kLastLook{5'000};  // doubled each time
constexpr std::uint64_t kMostLimit = 7 * 86'400;
constexpr std::size_t kMostReason = 200;  // bytes
constexpr std::array<std::string_view, 5> kOtherDisks{"sd", "vd", "hd", "mmcblk", "pmem"};
constexpr std::size_t kMostOthers = 256;

struct Order {
  bool erase = false, purge = false;
  std::string skip{};  // why no drive is erased; empty: they are
  std::chrono::seconds limit{};
};

using Erasures = std::vector<Erasure>;

/// One nvme format that was started.
struct Format {
  Erasure* erasure = nullptr;
  std::size_t space = 0;
  Command command{};
};
using Formats = std::map<int, Format>;

bool any_waits(const Erasures& all) { return std::ranges::any_of(all, &Erasure::waits); }

Work<bool> sanitize_all(Node& node, Erasures& all) {
  for (auto& each : all) {
    if (each.technique.action == 0) continue;
    Grip grip;
    if (co_await may_begin(node, each, grip)) co_await begin_sanitize(node, each);
  }
  co_return true;
}

void give_up_waiting(Erasures& all) {
  for (auto& each : all) {
    if (!std::exchange(each.waits, false)) continue;
    each.result = "unknown";
    each.why = each.began
                   ? "its sanitize was not seen to end within the limit, last at " +
                         std::to_string(static_cast<int>(each.percent)) +
                         " %: the next run follows it, and begins none beside it"
                   : "the drive did not take its sanitize, and its log cannot be read: " + each.why;
  }
}

Work<bool> follow_all(Node& node, const Order& order, Erasures& all) {
  const auto begun = node.clock.now();
  auto span = kFirstLook;
  while (true) {
    for (auto& each : all)
      if (each.waits) co_await look_at_sanitize(node, each);
    const auto passed = node.clock.now() - begun;
    if (!any_waits(all)) co_return true;
    if (passed >= order.limit) break;
    node.lines.phase("sanitize", std::chrono::duration<double>{passed}.count());
    co_await node.clock.pause(node.clock.until_next_look(span));
    span = std::min(2 * span, kLastLook);
  }
  give_up_waiting(all);
  co_return false;
}

/// One name space of a drive after the other: a second format beside one is refused.
void start_format(const Node& node, const Order& order, Erasure& erasure, std::size_t space,
                  Formats& formats) {
  if (space == erasure.spaces.size()) return;
  const auto& it = erasure.spaces[space];
  if (auto why = stranger(node, it, erasure.serial); !why.empty()) return erasure.fail(why);
  // --force: it is held by us, exclusively, and the ten seconds are for a person.
  Command command{.argv = {"nvme", "format", it.device,
                           "--ses=" + std::to_string(erasure.technique.secure), "--force"},
                  .limit = order.limit};
  const int number = node.programs.start(command);
  formats.emplace(number, Format{&erasure, space, std::move(command)});
}

void take_format(const Node& node, const Format& format, const Ran& ran) {
  node.lines.evidence("format", format.erasure->drive, format.command, ran);
  if (ran.status != 0) format.erasure->fail("nvme format failed: " + last_line_of(ran));
}

Work<bool> format_all(Node& node, const Order& order, Erasures& all) {
  Formats formats;
  Grip grip;
  for (auto& each : all) {
    if (each.technique.secure == 0 || !co_await may_begin(node, each, grip)) continue;
    each.result = "erased";  // unless one of them says otherwise
    each.verified = "nvme format: completed";
    start_format(node, order, each, 0, formats);
  }
  while (!formats.empty()) {
    auto next = co_await node.programs.first_end(order.limit);
    if (!next) continue;
    const auto ended = formats.extract(next->number);
    if (ended.empty()) continue;
    const auto& format = ended.mapped();
    take_format(node, format, next->ran);
    start_format(node, order, *format.erasure, format.space + 1, formats);
  }
  co_return true;
}

/// Its words are longer than a name may be: evidence.
void report(const Node& node, const Erasure& erasure) {
  JsonLine line;
  line.add("serial", std::string_view{erasure.serial})
      .add("model", std::string_view{erasure.model})
      .add("technique", erasure.technique.name)
      .add("result", erasure.result)
      .add("verification", std::string_view{erasure.verified})
      .add("why", std::string_view{erasure.why});
  node.lines.evidence("medium", erasure.drive, {}, {.status = 0, .out = line.object_text()});
}

/// Nothing is begun on any drive, and what runs on one is not waited for.
void skip_all(const Order& order, Erasures& all) {
  for (auto& each : all) {
    each.result = "skipped";
    each.why = order.skip;
  }
}

Work<bool> erase_all(Node& node, const Order& order, Erasures& all) {
  if (order.erase) co_await sanitize_all(node, all);
  co_await follow_all(node, order, all);
  if (order.erase) co_await format_all(node, order, all);
  for (auto& each : all)
    if (each.result == "erased") co_await verify_erasure(node, each);
  for (auto& each : all)
    if (each.eligible && !order.erase) each.why = co_await why_not_erased(node, each);
  co_return true;
}

/// Disks that hold data too, and that this stage does not erase. What is removable is a person's,
/// or the BMC's virtual media.
Erasures other_disks(const Node& node) {
  Erasures others;
  for (const auto& name : node.tree.names("/sys/block")) {
    const auto folder = "/sys/block/" + name;
    const bool is_disk = std::ranges::any_of(
        kOtherDisks, [&](std::string_view begin) { return name.starts_with(begin); });
    const bool is_empty = node.tree.text(folder + "/size").value_or("0") == "0";
    const bool is_removable = node.tree.text(folder + "/removable").value_or("0") == "1";
    if (!is_disk || is_empty || is_removable || others.size() == kMostOthers) continue;
    others.push_back({.drive = name,
                      .serial = node.tree.text(folder + "/device/wwid").value_or(name),
                      .model = node.tree.text(folder + "/device/model").value_or(""),
                      .why = "it is no NVMe drive, and NVMe drives alone are erased here: erase it "
                             "by its own tool (hdparm, sg_sanitize), or destroy it"});
  }
  return others;
}

std::optional<std::string> reason_in(const JsonValue& order) {
  const auto* value = order.find("skip");
  const auto* reason = value == nullptr ? nullptr : value->text();
  if (reason == nullptr || reason->size() > kMostReason) return std::nullopt;
  return printable(*reason);
}

std::string lacking(const Node& node) {
  for (const auto* tool : {"nvme", "lsblk", "blkid", "wipefs", "blockdev"})
    if (!node.programs.has(tool)) return tool;
  return {};
}

}  // namespace

Work<GaveUp> run_sanitize(Node& node, const JsonValue& json) {
  OrderReader reader{json};
  const auto named = drives_of(json);
  Order order{.erase = reader.flag("erase"), .purge = reader.flag("purge")};
  order.limit = std::chrono::seconds{reader.amount("limit", 1, kMostLimit)};
  if (!reader.why().empty()) co_return reader.why();
  if (!named) co_return "the order has no list of drives like nvme0";
  const auto skip = reason_in(json);
  if (!skip) co_return "the order has no skip of 200 bytes at most";
  order.skip = *skip;
  if (const auto tool = lacking(node); !tool.empty())
    co_return tool + " is not installed on the node";
  const auto drives = named->empty() ? all_drives(node) : *named;
  const auto others = named->empty() ? other_disks(node) : Erasures{};
  if (drives.empty() && others.empty()) co_return "the node has no NVMe drive";
  Erasures all;
  for (const auto& drive : drives) all.push_back({.drive = drive});
  for (auto& each : all) co_await plan_erasure(node, each, order.purge);
  all.insert(all.end(), others.begin(), others.end());
  if (order.skip.empty())
    co_await erase_all(node, order, all);
  else
    skip_all(order, all);
  node.lines.asked("all", named->empty() ? 1 : 0);
  node.lines.asked("erase", order.erase && order.skip.empty() ? 1 : 0);
  for (const auto& each : all) report(node, each);
  co_return {};
}

}  // namespace cupel::agent
