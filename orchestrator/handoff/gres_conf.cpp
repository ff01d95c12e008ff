#include "orchestrator/handoff/gres_conf.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <ranges>
#include <set>

#include "base/text.h"
#include "inventory/node_range.h"

namespace cupel::handoff {
namespace {

constexpr std::size_t kMostLines = 8;  // named in one fault
constexpr std::size_t kMostRecords = 10'000;
constexpr std::size_t kMostNames = 1'000'000;  // of all records together
constexpr std::size_t kMostFiles = 64, kDeepest = 8;
constexpr std::size_t kLongestValue = 80, kLongestList = 200;

constexpr std::array<std::string_view, 13> kKeys{
    "autodetect", "count", "cpus",          "cores", "file",     "files", "flags",
    "link",       "links", "multiplefiles", "name",  "nodename", "type"};

/// The first that a value contains counts. Source: gres.c, _handle_autodetect_flags().
constexpr std::array<std::string_view, 6> kDetectors{"full",   "nvml", "rsmi",
                                                     "oneapi", "nrt",  "nvidia"};

struct Place {
  std::string file{};
  std::size_t line = 0;
};

/// A record: one line, or several that end in a backslash.
struct Record {
  Place place{};                                             // of its first line
  std::map<std::string, std::string, std::less<>> values{};  // by key in small letters
  std::vector<std::string> nodes{};                          // of NodeName, sorted; empty: all

  std::string_view at(std::string_view key) const {
    const auto found = values.find(key);
    return found == values.end() ? std::string_view{} : std::string_view{found->second};
  }
  bool has(std::string_view key) const { return values.contains(key); }
  bool has_file() const { return has("file") || has("files") || has("multiplefiles"); }
  bool is_gpu() const { return lower_case(at("name")) == "gpu"; }
  bool is_of(const std::string& node) const {
    return nodes.empty() ? !has("nodename") : std::ranges::binary_search(nodes, node);
  }
  std::string_view files() const { return has("file") ? at("file") : at("files"); }
};

/// For a terminal and for JSON.
std::string clean(std::string_view text, std::size_t longest) {
  return shortened(valid_utf8(printable(text)), longest);
}

std::string brief(std::string_view text) { return clean(text, kLongestValue); }

std::string quoted(std::string_view text) { return "'" + brief(text) + "'"; }

std::string text_of(const Place& place) {
  return fmt::format("{}:{}", clean(place.file, kLongestList), place.line);
}

/// What was found of one kind stands together, with its lines.
class Faults {
 public:
  void add(const Place& place, std::string what) {
    const auto found = std::ranges::find_if(
        kinds_, [&](const Kind& each) { return each.file == place.file && each.what == what; });
    auto& kind = found == kinds_.end() ? kinds_.emplace_back(place.file, std::move(what)) : *found;
    kind.lines.insert(place.line);
  }

  bool is_empty() const { return kinds_.empty(); }

  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (const auto& [file, what, lines] : kinds_) {
      const auto shown = std::min(lines.size(), kMostLines);
      const auto rest = lines.size() - shown;
      all.push_back(fmt::format("{}:{}{}: {}", clean(file, kLongestList),
                                fmt::join(lines | std::views::take(shown), ", "),
                                rest == 0 ? "" : fmt::format(" and {} more lines", rest), what));
    }
    return all;
  }

 private:
  struct Kind {
    std::string file;
    std::string what;
    std::set<std::size_t> lines{};
  };
  std::vector<Kind> kinds_{};
};

/// "Name=gpu File = /dev/nvidia0", as Slurm parts it: blanks around '=' do not count, quotes hold
/// a value with blanks, "Count+=2" has the key Count. Source: parse_config.c, keyvalue_pattern.
class Fields {
 public:
  explicit Fields(std::string_view text) : left_{trimmed(text)} {}

  bool is_over() const { return left_.empty(); }
  /// Nothing where what follows is no KEY=VALUE.
  std::optional<std::pair<std::string, std::string>> next() {
    const auto equals = left_.find('=');
    if (equals == left_.npos) return std::nullopt;
    auto name = left_.substr(0, equals);
    if (!name.empty() && std::string_view{"-+*/"}.contains(name.back())) name.remove_suffix(1);
    auto key = lower_case(trimmed(name));
    left_ = trimmed(left_.substr(equals + 1));
    const bool in_quotes = left_.starts_with('"');
    if (in_quotes) left_.remove_prefix(1);
    const auto end = std::min(left_.find_first_of(in_quotes ? "\"" : " \t\r\v\f"), left_.size());
    std::pair found{std::move(key), std::string{left_.substr(0, end)}};
    left_ = trimmed(left_.substr(std::min(end + 1, left_.size())));
    return found;
  }

 private:
  std::string_view left_;
};

/// A list as Slurm reads it: it passes over names that are missing, as in "n1,,n2,".
std::string without_gaps(std::string_view list) {
  std::string names;
  for (const char each : list)
    if (each != ',' || (!names.empty() && names.back() != ',')) names += each;
  if (names.ends_with(',')) names.pop_back();
  return names;
}

/// Why slurmd would not take the key where it stands; empty: it does.
std::string objection_to(std::string_view key, const Record& record, std::string_view first) {
  const bool known = std::ranges::find(kKeys, key) != kKeys.end();
  if (!known) return quoted(key) + " is no key of gres.conf";
  if (record.values.empty())
    return key == "name" || key == "nodename" || key == "autodetect"
               ? ""
               : fmt::format("a line begins with NodeName=, Name= or AutoDetect=, not with {}=",
                             key);
  if (first == "autodetect") return "AutoDetect= in front stands alone: write NodeName= before it";
  return key == "nodename" ? "NodeName= belongs in front of all other keys" : "";
}

/// False: slurmd does not start with it, or nobody can tell its nodes; `faults` says why.
bool read_record(std::string_view text, Record record, std::vector<Record>& records,
                 Faults& faults) {
  const auto leave = [&](std::string why) {
    faults.add(record.place, std::move(why));
    return false;
  };
  std::string first;
  for (Fields fields{text}; !fields.is_over();) {
    auto field = fields.next();
    if (!field) return leave("what stands there is no KEY=VALUE: slurmd does not start");
    if (const auto why = objection_to(field->first, record, first); !why.empty())
      return leave(why + ": slurmd does not start");
    if (first.empty()) first = field->first;
    record.values[field->first] = std::move(field->second);
  }
  if (record.has("nodename")) {
    auto nodes = inventory::expand(without_gaps(record.at("nodename")));
    if (!nodes)
      return leave("NodeName=" + quoted(record.at("nodename")) + ": " +
                   clean(nodes.error().what, kLongestList));
    record.nodes = *std::move(nodes);
    std::ranges::sort(record.nodes);
  }
  records.push_back(std::move(record));
  return true;
}

/// How many backslashes stand before `end`: an odd number takes away what the next byte means.
bool is_escaped(std::string_view text, std::size_t end) {
  std::size_t count = 0;
  while (count < end && text[end - 1 - count] == '\\') ++count;
  return count % 2 == 1;
}

std::string_view without_comment(std::string_view line) {
  for (auto at = line.find('#'); at != line.npos; at = line.find('#', at + 1))
    if (!is_escaped(line, at)) return line.substr(0, at);
  return line;
}

/// The line without the backslash at its end; nothing: it does not go on in the next one. What
/// stands beside the backslash stays, and so do blanks in front of the next line.
std::optional<std::string_view> going_on(std::string_view line) {
  const auto last = line.find_last_not_of(" \t\r\v\f");
  if (last == line.npos || !is_escaped(line, last + 1)) return std::nullopt;
  return line.substr(0, last);
}

/// The records of a file and of those that it includes, in Slurm's order.
class Reader {
 public:
  Reader(const ReadIncluded& read, Faults& faults, Faults& notes)
      : read_{read}, faults_{faults}, notes_{notes} {}

  void read(const std::string& file, std::string_view text, std::size_t depth) {
    std::string whole;
    Place place{file, 0};
    std::size_t number = 0;
    const auto all = lines(text);
    for (const auto each : all) {
      ++number;
      const auto line = without_comment(each);
      if (whole.empty()) place.line = number;
      const auto part = going_on(line);
      whole += part.value_or(line);
      if (part && number < all.size()) continue;
      if (!trimmed(whole).empty() && !take(place, trimmed(whole), depth)) return;
      whole.clear();
    }
  }

  const std::vector<Record>& records() const { return records_; }
  bool is_whole() const { return is_whole_; }

 private:
  /// False: enough was read.
  bool take(const Place& place, std::string_view text, std::size_t depth) {
    if (records_.size() == kMostRecords || names_ >= kMostNames) {
      leave_out(place, fmt::format("over {} records or {} names: not compared from here on",
                                   kMostRecords, kMostNames));
      return false;
    }
    const auto parts = words(text);
    if (lower_case(parts.front()) == "include" && parts.size() == 2)
      include(place, std::string{parts[1]}, depth);
    else if (read_record(text, {.place = place}, records_, faults_))
      names_ += records_.back().nodes.size();
    else
      is_whole_ = false;  // what is missing may stand there
    return true;
  }

  void include(const Place& place, const std::string& name, std::size_t depth) {
    if (depth == kDeepest || files_++ >= kMostFiles)
      return leave_out(
          place, fmt::format("Include: over {} files, or {} deep: not read", kMostFiles, kDeepest));
    const auto text = read_(name);
    if (!text)
      return leave_out(
          place, "Include " + quoted(name) + " cannot be read here: GPUs of nodes are not counted");
    read(name, *text, depth + 1);
  }

  void leave_out(const Place& place, std::string why) {
    notes_.add(place, std::move(why));
    is_whole_ = false;
  }

  const ReadIncluded& read_;
  Faults& faults_;
  Faults& notes_;
  std::vector<Record> records_{};
  std::size_t names_ = 0, files_ = 0;
  bool is_whole_ = true;
};

/// How many devices slurmd makes of a record: of GPUs, none without files. Nothing: the files are
/// no range that is known.
std::optional<std::size_t> devices_of(const Record& record) {
  if (record.has("multiplefiles")) return 1;  // one MIG instance
  if (!record.has_file()) return 0;
  const auto count = inventory::count_names(without_gaps(record.files()));
  return count ? std::optional{*count} : std::nullopt;
}

/// The highest number of "48-63,176-191" or "0-62:2"; other letters count for nothing, as in
/// Slurm's bitfmt2int().
std::optional<long> highest_of(std::string_view list) {
  std::optional<long> highest;
  list = list.substr(0, list.find(':'));
  while (!list.empty()) {
    const auto first = std::min(list.find_first_of("0123456789"), list.size());
    list.remove_prefix(first);
    const auto end = std::min(list.find_first_not_of("0123456789"), list.size());
    if (const auto value = number<long>(list.substr(0, end)))
      highest = std::max(highest.value_or(0), *value);
    list.remove_prefix(end);
  }
  return highest;
}

void check_cores(const Record& record, std::span<const SlurmNode> nodes, Faults& faults,
                 Faults& notes) {
  const auto highest = highest_of(record.has("cores") ? record.at("cores") : record.at("cpus"));
  for (const auto& node : nodes)
    if (highest && record.is_of(node.name) && node.cpus > 0 && *highest >= node.cpus)
      return faults.add(
          record.place,
          fmt::format("core {}, and {} has {} CPUs in Slurm: Invalid GRES data; Cores= "
                      "counts cores as lstopo -l does, not the threads of Linux",
                      *highest, brief(node.name), node.cpus));
  if (record.has("cpus"))
    notes.add(record.place, "CPUs= is the old name of Cores=, and counts cores as lstopo -l does");
}

void check_files(const Record& record, Faults& faults) {
  if ((record.has("file") || record.has("files")) && record.has("multiplefiles"))
    return faults.add(record.place, "File and MultipleFiles exclude each other");
  const auto list = record.has("multiplefiles") ? record.at("multiplefiles") : record.files();
  const auto files = inventory::count_names(without_gaps(list));
  if (record.has_file() && !files)
    return faults.add(record.place,
                      "File=" + quoted(list) + ": " + clean(files.error().what, kLongestList));
  if (record.has("multiplefiles") && files && *files < 2)
    faults.add(record.place, "MultipleFiles= names one file: slurmd does not start; write File=");
  const auto count = number<std::size_t>(record.at("count"));
  const auto devices = devices_of(record);
  if (record.is_gpu() && record.has_file() && count && devices && *count != *devices)
    faults.add(record.place,
               fmt::format("Count={} beside {} {}: slurmd does not start", *count, *devices,
                           record.has("multiplefiles") ? "instance" : "files"));
}

/// The word of AutoDetect's that slurmd takes; empty: it knows none of it.
std::string_view detector_in(std::string_view value) {
  const auto word = lower_case(value);
  if (word == "off") return "off";
  for (const auto each : kDetectors)
    if (word.contains(each)) return each;
  return {};
}

void check_record(const Record& record, std::span<const SlurmNode> nodes, Faults& faults,
                  Faults& notes) {
  if (record.has("autodetect") && detector_in(record.at("autodetect")).empty())
    faults.add(record.place,
               fmt::format("AutoDetect={} is none of {} and off: slurmd detects nothing",
                           brief(record.at("autodetect")), fmt::join(kDetectors, ", ")));
  if (record.has("autodetect") && record.has("name") && !record.has("nodename"))
    notes.add(record.place, "AutoDetect beside Name= takes no effect without NodeName= in front");
  check_files(record, faults);
  check_cores(record, nodes, faults, notes);
}

bool is_global(const Record& record) {
  return record.has("autodetect") && !record.has("name") && !record.has("nodename");
}

bool detect_alike(const Record& one, const Record& other) {
  return detector_in(one.at("autodetect")) == detector_in(other.at("autodetect"));
}

/// On a line of its own it holds for all nodes, and the last one counts.
void check_autodetect(std::span<const Record> records, Faults& faults, Faults& notes) {
  const Record* first = nullptr;
  for (const auto& record : records) {
    if (!is_global(record)) continue;
    if (first != nullptr)
      (detect_alike(record, *first) ? notes : faults)
          .add(record.place, fmt::format("AutoDetect={} again, after AutoDetect={} in {}: the "
                                         "last one counts; leave one",
                                         brief(record.at("autodetect")),
                                         brief(first->at("autodetect")), text_of(first->place)));
    first = &record;
  }
}

/// Of one node.
struct NodeRecords {
  std::vector<const Record*> gpus{};
  std::string_view autodetect{};  // "off" where it is not requested

  bool is_detected() const { return !autodetect.empty() && detector_in(autodetect) != "off"; }
};

NodeRecords records_for(const std::string& node, std::span<const Record> records, Faults& faults) {
  NodeRecords own;
  const Record* first = nullptr;
  for (const auto& record : records) {
    if (is_global(record) && first == nullptr) own.autodetect = record.at("autodetect");
    if (!record.is_of(node)) continue;
    if (record.is_gpu()) own.gpus.push_back(&record);
    if (!record.has("autodetect") || !record.has("nodename")) continue;
    if (first != nullptr && !detect_alike(*first, record))
      faults.add(record.place,
                 fmt::format("AutoDetect differs from that of the same node in {}: slurmd does "
                             "not start",
                             text_of(first->place)));
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
      faults.add(each->place,
                 fmt::format("no {}= here, and other gpu records of the node have one: "
                             "slurmd does not start",
                             key));
}

void check_twice(const NodeRecords& own, Faults& faults) {
  const auto is_bare = [](const Record* each) { return !each->has_file() && !each->has("type"); };
  if (own.gpus.size() > 1 && std::ranges::all_of(own.gpus, is_bare))
    faults.add(own.gpus.back()->place,
               "Name=gpu again, without File= and Type=: slurmd does not "
               "start");
}

using Counts = std::map<std::string, std::size_t, std::less<>>;  // by type; "": none reported

/// One of "gpu:h100:8", "gpu:8", "gpu:h100", "gpu", "gpu:h100:no_consume:2". Source: gres.c,
/// _get_gres_cnt().
void count_gpus(std::string_view part, Counts& counts) {
  auto pieces = split(part, ':');
  if (lower_case(pieces.front()) != "gpu") return;
  const auto count = number<std::size_t>(pieces.back());
  if (count) pieces.pop_back();
  std::erase_if(pieces, [](std::string_view each) { return lower_case(each) == "no_consume"; });
  counts[pieces.size() > 1 ? lower_case(pieces[1]) : ""] += count.value_or(1);
}

/// "gpu:h100:8(S:0-1),gpu:4,shard:8" as scontrol tells it.
Counts counts_in(std::string_view gres) {
  Counts counts;
  std::string bare;
  bool within = false;
  for (const char each : gres) {
    within = (within || each == '(') && each != ')';
    if (!within && each != ')') bare += each;
  }
  for (const auto part : split(bare, ',')) count_gpus(part, counts);
  std::erase_if(counts, [](const auto& each) { return each.second == 0; });
  return counts;
}

std::string text_of(const Counts& counts) {
  if (counts.empty()) return "no gpu";
  std::vector<std::string> parts;
  for (const auto& [type, count] : counts)
    parts.push_back(fmt::format("gpu:{}{}{}", type, type.empty() ? "" : ":", count));
  return clean(fmt::format("{}", fmt::join(parts, ",")), kLongestList);
}

/// slurm.conf may leave types out, and then those of gres.conf do not count. The other way round
/// they do: what has no type in gres.conf is none of a type.
Counts as_slurm_sees(Counts file, const Counts& slurm) {
  if (!slurm.contains("")) return file;
  std::size_t sum = 0;
  for (const auto& [type, count] : file) sum += count;
  return sum == 0 ? Counts{} : Counts{{"", sum}};
}

/// True if `one` has more of some type than `other`.
bool exceeds(const Counts& one, const Counts& other) {
  return std::ranges::any_of(one, [&](const auto& each) {
    const auto found = other.find(each.first);
    return each.second > (found == other.end() ? 0 : found->second);
  });
}

std::optional<Counts> counts_of(const NodeRecords& own) {
  Counts counts;
  for (const auto* record : own.gpus) {
    const auto devices = devices_of(*record);
    if (!devices) return std::nullopt;
    if (*devices > 0) counts[lower_case(record->at("type"))] += *devices;
  }
  return counts;
}

bool any_of(const NodeRecords& own, bool (*is)(const Record&)) {
  return std::ranges::any_of(own.gpus, [is](const Record* each) { return is(*each); });
}

/// A node with fewer GPUs than Slurm expects takes no jobs; what it has more, jobs do not see.
std::string difference(const Counts& file, const Counts& slurm, const NodeRecords& own) {
  const auto seen = as_slurm_sees(file, slurm);
  const bool mig = any_of(own, [](const Record& each) { return each.has("multiplefiles"); });
  const bool bare =
      any_of(own, [](const Record& each) { return !each.has_file() && each.at("count") != "0"; });
  const bool fewer = exceeds(slurm, seen);
  const bool untyped = fewer && file.contains("") && !slurm.contains("");
  return fmt::format("gres.conf has {}, Slurm has {}{}{}{}{}", text_of(file), text_of(slurm),
                     fewer ? ": slurmctld makes the node INVAL" : ": slurmd leaves out the rest",
                     mig ? "; each MIG instance counts in Gres=" : "",
                     bare ? "; Name=gpu without File= counts for none" : "",
                     untyped ? "; without Type= in gres.conf a GPU is none of a type" : "");
}

/// Nodes by what is to be reported of them.
using NodesBy = std::map<std::string, std::vector<std::string>>;

std::vector<std::string> texts_of(const NodesBy& all) {
  std::vector<std::string> texts;
  for (const auto& [what, names] : all)
    texts.push_back(clean(inventory::fold(names), kLongestList) + ": " + what);
  return texts;
}

void append(std::vector<std::string> more, std::vector<std::string>& all) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

GresFindings gres_findings(std::string_view file, std::string_view text,
                           std::span<const SlurmNode> nodes, const ReadIncluded& read) {
  Faults faults, notes;
  Reader reader{read, faults, notes};
  reader.read(std::string{file}, text, 0);
  const auto& records = reader.records();
  check_autodetect(records, faults, notes);
  for (const auto& record : records) check_record(record, nodes, faults, notes);
  NodesBy differ, detected;
  for (const auto& node : nodes) {
    const auto own = records_for(node.name, records, faults);
    check_alike(own, "File", [](const Record& each) { return each.has_file(); }, faults);
    check_alike(own, "Type", [](const Record& each) { return each.has("type"); }, faults);
    check_twice(own, faults);
    // AutoDetect adds what slurmd finds, to records without File as well.
    if (own.is_detected()) {
      detected
          ["AutoDetect finds the GPUs, which are not counted here: slurmd -G on the node prints "
           "them"]
              .push_back(node.name);
      continue;
    }
    const auto here = counts_of(own);
    const auto slurm = counts_in(node.gres);
    if (!reader.is_whole() || !here || as_slurm_sees(*here, slurm) == slurm) continue;
    differ[difference(*here, slurm, own)].push_back(node.name);
  }
  GresFindings found{faults.texts(), notes.texts(), reader.is_whole()};
  append(texts_of(differ), found.faults);
  append(texts_of(detected), found.notes);
  return found;
}

}  // namespace cupel::handoff
