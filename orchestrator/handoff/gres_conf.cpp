#include "orchestrator/handoff/gres_conf.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/text.h"
#include "inventory/node_range.h"

namespace cupel::handoff {
namespace {

constexpr std::size_t kMostLines = 8;  // named in one fault
constexpr std::size_t kMostRecords = 10'000;
constexpr std::size_t kMostNames = 1'000'000;  // of all records together
constexpr std::size_t kLongestValue = 80;

constexpr std::array<std::string_view, 13> kKeys{
    "autodetect", "count", "cpus",          "cores", "file",     "files", "flags",
    "link",       "links", "multiplefiles", "name",  "nodename", "type"};

/// A record: one line, or several that end in a backslash.
struct Record {
  std::size_t line = 0;
  std::map<std::string, std::string, std::less<>> values{};  // by key in small letters
  std::vector<std::string> nodes{};                          // of NodeName; empty: all
  bool starts_with_node = false;

  std::string_view at(std::string_view key) const {
    const auto found = values.find(key);
    return found == values.end() ? std::string_view{} : std::string_view{found->second};
  }
  bool has(std::string_view key) const { return values.contains(key); }
  bool has_file() const { return has("file") || has("files") || has("multiplefiles"); }
  bool is_gpu() const { return lower_case(at("name")) == "gpu"; }
  bool is_of(const std::string& node) const {
    return nodes.empty() || std::ranges::find(nodes, node) != nodes.end();
  }
};

std::string brief(std::string_view text) { return shortened(printable(text), kLongestValue); }

std::string quoted(std::string_view text) { return "'" + brief(text) + "'"; }

/// Faults of one kind stand together, with their lines.
class Faults {
 public:
  void add(std::size_t line, std::string what) {
    const auto found = std::ranges::find(kinds_, what, &Kind::what);
    auto& kind = found == kinds_.end() ? kinds_.emplace_back(std::move(what)) : *found;
    if (std::ranges::find(kind.lines, line) == kind.lines.end()) kind.lines.push_back(line);
  }

  bool is_empty() const { return kinds_.empty(); }

  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (const auto& [what, lines] : kinds_) {
      const auto shown = std::min(lines.size(), kMostLines);
      const auto rest = lines.size() - shown;
      all.push_back(
          fmt::format("gres.conf:{}{}: {}",
                      fmt::join(lines.begin(), lines.begin() + static_cast<long>(shown), ", "),
                      rest == 0 ? "" : fmt::format(" and {} more lines", rest), what));
    }
    return all;
  }

 private:
  struct Kind {
    std::string what;
    std::vector<std::size_t> lines{};
  };
  std::vector<Kind> kinds_{};
};

/// "Name=gpu File = /dev/nvidia0", as Slurm parts it: blanks around '=' do not count, quotes hold
/// a value with blanks.
class Fields {
 public:
  explicit Fields(std::string_view text) : left_{trimmed(text)} {}

  bool is_over() const { return left_.empty(); }
  /// Nothing where what follows is no KEY=VALUE.
  std::optional<std::pair<std::string, std::string>> next() {
    const auto equals = left_.find('=');
    if (equals == left_.npos) return std::nullopt;
    const auto key = lower_case(trimmed(left_.substr(0, equals)));
    left_ = trimmed(left_.substr(equals + 1));
    const bool in_quotes = left_.starts_with('"');
    if (in_quotes) left_.remove_prefix(1);
    const auto end = std::min(left_.find_first_of(in_quotes ? "\"" : " \t\r"), left_.size());
    std::pair found{key, std::string{left_.substr(0, end)}};
    left_ = trimmed(left_.substr(std::min(end + 1, left_.size())));
    return found;
  }

 private:
  std::string_view left_;
};

std::string_view without_comment(std::string_view line) {
  return trimmed(line.substr(0, line.find('#')));
}

bool read_record(std::string_view text, Record record, std::vector<Record>& records,
                 Faults& faults) {
  const auto leave = [&](std::string why) {
    faults.add(record.line, std::move(why));
    return false;
  };
  for (Fields fields{text}; !fields.is_over();) {
    auto field = fields.next();
    const bool known = field && std::ranges::find(kKeys, field->first) != kKeys.end();
    if (!known)
      return leave(field ? quoted(field->first) + " is no key of gres.conf: slurmd does not start"
                         : "what stands there is no KEY=VALUE: slurmd does not start");
    if (record.values.empty()) record.starts_with_node = field->first == "nodename";
    record.values[field->first] = std::move(field->second);
  }
  if (record.has("nodename")) {
    auto nodes = inventory::expand(record.at("nodename"));
    if (!nodes)
      return leave("NodeName=" + quoted(record.at("nodename")) + ": " +
                   shortened(nodes.error().what, 200));
    record.nodes = *std::move(nodes);
  }
  records.push_back(std::move(record));
  return true;
}

bool includes(std::string_view line) {
  const auto parts = words(line);
  return !parts.empty() && lower_case(parts.front()) == "include";
}

std::vector<Record> records_of(std::string_view text, Faults& faults) {
  std::vector<Record> records;
  std::string whole;
  std::size_t number = 0, names = 0;
  const auto all = lines(text);
  for (const auto each : all) {
    ++number;
    auto line = without_comment(each);
    const bool is_cut = line.ends_with('\\');
    const bool goes_on = is_cut && number < all.size();
    if (is_cut) line.remove_suffix(1);
    whole += std::string{line} + " ";
    if (goes_on || trimmed(whole).empty()) continue;
    if (records.size() == kMostRecords || names >= kMostNames) {
      faults.add(number, fmt::format("over {} records or {} names: not compared from here on",
                                     kMostRecords, kMostNames));
      break;
    }
    if (includes(whole))
      faults.add(number, "Include: not read here: compare that file by itself (--gres FILE)");
    else if (read_record(whole, {.line = number}, records, faults))
      names += records.back().nodes.size();
    whole.clear();
  }
  return records;
}

/// How many devices a record has: files, or Count; nothing: its files are no range that is known.
std::optional<std::size_t> devices_of(const Record& record) {
  if (record.has("multiplefiles")) return 1;  // one MIG instance
  const auto files = record.has("file") ? record.at("file") : record.at("files");
  if (!files.empty()) {
    const auto count = inventory::count_names(files);
    return count ? std::optional{*count} : std::nullopt;
  }
  return record.has("count") ? number<std::size_t>(record.at("count"))
                             : std::optional<std::size_t>{1};
}

/// The highest number of "48-63,176-191"; nothing: it is no list of numbers.
std::optional<long> highest_of(std::string_view list) {
  long highest = 0;
  for (const auto range : split(list, ','))
    for (const auto bound : split(range, '-')) {
      const auto value = number<long>(trimmed(bound));
      if (!value || *value < 0) return std::nullopt;
      highest = std::max(highest, *value);
    }
  return highest;
}

void check_cores(const Record& record, std::span<const SlurmNode> nodes, Faults& faults) {
  if (record.has("cpus"))
    faults.add(record.line,
               "CPUs= is the old name of Cores=, and counts cores as Slurm does, not the CPUs of "
               "Linux (threads): write Cores= with the core numbers of lstopo -l");
  const auto list = record.has("cores") ? record.at("cores") : record.at("cpus");
  if (list.empty()) return;
  const auto highest = highest_of(list);
  if (!highest) return faults.add(record.line, "Cores=" + quoted(list) + " is no list of cores");
  for (const auto& node : nodes)
    if (record.is_of(node.name) && node.cpus > 0 && *highest >= node.cpus)
      return faults.add(record.line,
                        fmt::format("core {}, and {} has {} CPUs in Slurm: Invalid GRES data",
                                    *highest, brief(node.name), node.cpus));
}

void check_record(const Record& record, std::span<const SlurmNode> nodes, Faults& faults) {
  if (record.has("autodetect") && record.has("name") && !record.starts_with_node)
    faults.add(record.line, "AutoDetect beside Name= takes no effect without NodeName= in front");
  if (record.has("file") && record.has("multiplefiles"))
    faults.add(record.line, "File and MultipleFiles exclude each other");
  check_cores(record, nodes, faults);
  const auto files = record.has("file") ? record.at("file") : record.at("files");
  const auto count = number<std::size_t>(record.at("count"));
  const auto devices = devices_of(record);
  if (record.is_gpu() && !files.empty() && count && devices && *count != *devices)
    faults.add(record.line,
               fmt::format("Count={} beside {} files: slurmd does not start", *count, *devices));
}

bool is_global(const Record& record) {
  return record.has("autodetect") && !record.has("name") && !record.has("nodename");
}

/// On a line of its own it holds for all nodes, and the last one counts.
void check_autodetect(std::span<const Record> records, Faults& faults) {
  const Record* first = nullptr;
  for (const auto& record : records) {
    if (!is_global(record)) continue;
    if (first != nullptr)
      faults.add(
          record.line,
          fmt::format("AutoDetect={} again, after AutoDetect={} in line {}: the "
                      "last one counts; leave one",
                      brief(record.at("autodetect")), brief(first->at("autodetect")), first->line));
    first = &record;
  }
}

/// Of one node.
struct NodeRecords {
  std::vector<const Record*> gpus{};
  std::string_view autodetect{};  // "off" where it is not wanted

  bool is_detected() const { return !autodetect.empty() && lower_case(autodetect) != "off"; }
};

NodeRecords records_for(const std::string& node, std::span<const Record> records, Faults& faults) {
  NodeRecords own;
  const Record* first = nullptr;
  for (const auto& record : records) {
    if (is_global(record) && first == nullptr) own.autodetect = record.at("autodetect");
    if (!record.is_of(node)) continue;
    if (record.is_gpu()) own.gpus.push_back(&record);
    if (!record.has("autodetect") || record.nodes.empty() || !record.starts_with_node) continue;
    if (first != nullptr &&
        lower_case(first->at("autodetect")) != lower_case(record.at("autodetect")))
      faults.add(
          record.line,
          fmt::format(
              "AutoDetect differs from that of the same node in line {}: slurmd does not start",
              first->line));
    first = first == nullptr ? &record : first;
    own.autodetect = first->at("autodetect");
  }
  return own;
}

/// slurmd ends where some records of one node have a key that others lack.
template <class Has>
void check_alike(const NodeRecords& own, std::string_view key, Has has, Faults& faults) {
  const auto with = std::ranges::count_if(own.gpus, [&](const auto* each) { return has(*each); });
  if (with == 0 || with == std::ssize(own.gpus)) return;
  for (const auto* each : own.gpus)
    if (!has(*each))
      faults.add(each->line, fmt::format("no {}= here, and other gpu records of the node have one: "
                                         "slurmd does not start",
                                         key));
}

using Counts = std::map<std::string, std::size_t, std::less<>>;  // by type; "": none told

/// "gpu:h100:8(S:0-1),gpu:4,shard:8" as scontrol tells it.
Counts counts_in(std::string_view gres) {
  Counts counts;
  std::string bare;
  bool within = false;
  for (const char each : gres) {
    within = (within || each == '(') && each != ')';
    if (!within && each != ')') bare += each;
  }
  for (const auto part : split(bare, ',')) {
    const auto pieces = split(part, ':');
    const auto count = number<std::size_t>(pieces.back());
    if (pieces.front() != "gpu" || pieces.size() > 3 || pieces.size() < 2 || !count) continue;
    counts[pieces.size() == 3 ? lower_case(pieces[1]) : ""] += *count;
  }
  return counts;
}

std::size_t total(const Counts& counts) {
  std::size_t sum = 0;
  for (const auto& [type, count] : counts) sum += count;
  return sum;
}

std::string text_of(const Counts& counts) {
  if (counts.empty()) return "no gpu";
  std::vector<std::string> parts;
  for (const auto& [type, count] : counts)
    parts.push_back(fmt::format("gpu:{}{}{}", type, type.empty() ? "" : ":", count));
  return shortened(printable(fmt::format("{}", fmt::join(parts, ","))), 200);
}

/// Types count only where both name them: slurm.conf may leave them out.
bool agree(const Counts& file, const Counts& slurm) {
  if (file.contains("") || slurm.contains("")) return total(file) == total(slurm);
  return file == slurm;
}

std::optional<Counts> counts_of(const NodeRecords& own) {
  Counts counts;
  for (const auto* record : own.gpus) {
    const auto devices = devices_of(*record);
    if (!devices) return std::nullopt;
    counts[lower_case(record->at("type"))] += *devices;
  }
  return counts;
}

/// A node with fewer GPUs than Slurm expects takes no jobs; what it has more, jobs do not see.
std::string difference(const Counts& file, const Counts& slurm, const NodeRecords& own) {
  const bool fewer = total(file) < total(slurm);
  const bool more = total(file) > total(slurm);
  const bool mig =
      std::ranges::any_of(own.gpus, [](const Record* each) { return each->has("multiplefiles"); });
  return fmt::format("gres.conf has {}, Slurm has {}{}{}", text_of(file), text_of(slurm),
                     fewer  ? ": slurmctld makes the node INVAL"
                     : more ? ": slurmd leaves out the rest"
                            : "",
                     mig ? "; each MIG instance counts in Gres=" : "");
}

}  // namespace

std::vector<std::string> gres_faults(std::string_view text, std::span<const SlurmNode> nodes) {
  Faults faults;
  const auto records = records_of(text, faults);
  const bool is_whole = faults.is_empty();  // else what is missing may stand where it was not read
  check_autodetect(records, faults);
  for (const auto& record : records) check_record(record, nodes, faults);
  std::map<std::string, std::vector<std::string>> differ;  // nodes by what differs
  for (const auto& node : nodes) {
    const auto own = records_for(node.name, records, faults);
    check_alike(own, "File", [](const Record& each) { return each.has_file(); }, faults);
    check_alike(own, "Type", [](const Record& each) { return each.has("type"); }, faults);
    // AutoDetect adds what slurmd finds, and only slurmd knows that.
    if (own.is_detected()) {
      for (const auto* record : own.gpus)
        if (!record->has_file())
          faults.add(record->line,
                     "Name=gpu without File beside AutoDetect: leave the line out, the "
                     "GPUs are detected");
      continue;
    }
    const auto file = counts_of(own);
    const auto slurm = counts_in(node.gres);
    if (!is_whole || !file || agree(*file, slurm)) continue;
    differ[difference(*file, slurm, own)].push_back(node.name);
  }
  auto all = faults.texts();
  for (const auto& [what, names] : differ)
    all.push_back(shortened(printable(inventory::fold(names)), 200) + ": " + what);
  return all;
}

}  // namespace cupel::handoff
