#include "burnin/agent/node/watch/log_reading.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>
#include <vector>

#include "base/text.h"
#include "burnin/agent/common/json_line.h"
#include "burnin/agent/common/options.h"
#include "burnin/agent/node/watch/kernel_log.h"
#include "burnin/agent/node/watch/part_names.h"

namespace cupel::agent {
namespace {

constexpr std::uint64_t kMostRecords = 4'000'000;
constexpr std::size_t kMostKept = 4096;  // rows that are distinguished
constexpr std::size_t kMostRows = 40;    // that are printed: about 300 bytes each

struct Row {
  KernelMessage message;
  std::string part{};
  double since_boot = 0;
  std::uint64_t count = 0;
};

/// What one reading of the whole log adds up to.
class Sum {
 public:
  explicit Sum(const PartNames& names) : names_{names} {}

  void take(const KernelMessage& message, const KernelRecord& record) {
    auto part = names_.of(message);
    const auto same = std::ranges::find_if(rows_, [&](const Row& row) {
      return row.message.kind == message.kind && row.message.weight == message.weight &&
             row.message.code == message.code && row.part == part;
    });
    if (same != rows_.end()) {
      ++same->count;
      return;
    }
    if (rows_.size() < kMostKept) rows_.push_back({message, std::move(part), record.seconds, 1});
  }

  /// "messages", and how many rows were left out for want of room.
  void write(JsonLine& line) {
    std::ranges::stable_sort(rows_, {},
                             [](const Row& row) { return row.message.weight != Weight::error; });
    line.array("messages");
    for (std::size_t i = 0; i < std::min(rows_.size(), kMostRows); ++i) write(rows_[i], line);
    line.end().add("rows_left_out", rows_.size() - std::min(rows_.size(), kMostRows));
  }

 private:
  static void write(const Row& row, JsonLine& line) {
    line.object().add("class", to_string(row.message.kind));
    line.add("weight", to_string(row.message.weight));
    if (row.message.code) line.add("code", *row.message.code);
    line.add("part", std::string_view{row.part});
    if (!row.message.pci.empty()) line.add("pci", std::string_view{row.message.pci});
    line.add("count", row.count).add("since_boot", row.since_boot);
    line.add("detail", std::string_view{row.message.detail}).end();
  }

  const PartNames& names_;
  std::vector<Row> rows_{};
};

/// Where a reading began and ended.
struct Span {
  std::optional<std::uint64_t> last{};
  std::uint64_t records = 0, lost = 0;
};

/// All records behind `after` that the kernel still has.
Span read_records(KernelLog& log, std::optional<std::uint64_t> after, bool whole_boot,
                  const std::function<void(const KernelRecord&)>& take) {
  Span span;
  // The number that the next record must have, where none was lost.
  auto next = whole_boot ? std::optional<std::uint64_t>{0} : after;
  if (after) next = *after + 1;
  while (span.records < kMostRecords) {
    const auto records = log.read();
    if (records.empty()) break;
    for (const auto& record : records) {
      span.last = std::max(span.last.value_or(0), record.sequence);
      if (!next || record.sequence < *next) continue;
      span.lost += record.sequence - *next;
      next = record.sequence + 1;
      ++span.records;
      take(record);
    }
  }
  return span;
}

/// "5025.13 39876.02": since the boot, and idle. Source: proc(5), /proc/uptime.
std::optional<double> seconds_up(const Tree& tree) {
  const auto text = tree.text("/proc/uptime");
  return text ? number_in(text->substr(0, text->find(' '))) : std::nullopt;
}

void write_places(const PartNames& names, JsonLine& line) {
  constexpr int kMostPlaces = 64;
  int count = 0;
  line.object("places");
  for (const auto& [address, part] : names.all())
    if (part.starts_with("gpu") && ++count <= kMostPlaces)
      line.add(part, std::string_view{address});
  line.end();
}

}  // namespace

std::string log_document(const Tree& tree, const LogRange& range) {
  const auto& since = range.since;
  JsonLine line{"kernel-log"};
  line.add("program", "cupel-node").add("protocol", 1);
  KernelLog log{tree, KernelLog::From::beginning};
  const auto boot = tree.text("/proc/sys/kernel/random/boot_id");
  if (!log.works() || !boot) {
    const auto why = log.works() ? std::string{"the kernel has no boot_id"} : log.why();
    line.add("readable", false).add("why", std::string_view{why});
    return line.text();
  }
  // No driver is asked: parts by their addresses alone.
  const PartNames names{tree, nvml::Library{""}};
  Sum sum{names};
  MessageReader reader;
  const bool restarted = since && since->boot != *boot;
  const auto after = since && !restarted ? std::optional{since->sequence} : std::nullopt;
  KernelRecord last;
  const bool from_boot = range.whole_boot && !since;
  const auto span =
      read_records(log, after, restarted || from_boot, [&](const KernelRecord& record) {
        for (const auto& message : reader.read(record)) sum.take(message, record);
        last.seconds = record.seconds;
      });
  if (const auto open = reader.rest()) sum.take(*open, last);
  const auto stands = std::max(span.last.value_or(0), after.value_or(0));
  line.add("readable", true).add("boot", std::string_view{*boot}).add("last", stands);
  // By the node's own clock, as its other logs are.
  if (const auto up = seconds_up(tree))
    line.add("booted", static_cast<double>(std::time(nullptr)) - *up);
  write_places(names, line);
  if (since || from_boot) {
    line.add("restarted", restarted).add("from_boot", from_boot).add("records", span.records);
    line.add("lost", span.lost);
    sum.write(line);
  }
  return line.text();
}

int kernel_log(Arguments arguments) {
  constexpr std::array kChoices{
      Choice{.name = "--boot", .kind = Choice::Kind::kText},
      Choice{.name = "--after", .kind = Choice::Kind::kText}, Choice{.name = "--from-boot"},
      Choice{.name = "--root", .kind = Choice::Kind::kText, .fallback = "/"}};
  const auto options = Options::read(kChoices, arguments);
  const auto after = options ? number<std::uint64_t>(options->text("--after")) : std::nullopt;
  const bool both = options && options->given("--boot") == options->given("--after") &&
                    !(options->given("--boot") && options->given("--from-boot"));
  if (!both || !options->operands().empty() || (options->given("--after") && !after))
    return write_all(2,
                     "usage: cupel-node kernel-log [--boot ID --after SEQUENCE | --from-boot] "
                     "[--root FOLDER]\n"),
           kUsage;
  LogRange range{.whole_boot = options->given("--from-boot")};
  if (after) range.since = LogPosition{std::string{options->text("--boot")}, *after};
  return write_all(1, log_document(Tree{options->text("--root")}, range)) ? kDone : kCannotWrite;
}

}  // namespace cupel::agent
