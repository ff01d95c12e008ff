#include "burnin/agent/node/watch/watch.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace cupel::agent {
namespace {

constexpr int kMostReported = 20;  // messages in one second
constexpr std::uint64_t kMostInAll = 2000;
constexpr std::size_t kMostLine = 400;
constexpr std::size_t kBefore = 30;  // samples before a fault that are printed
constexpr double kAfter = 30;        // seconds after it
/// Bytes of samples that are printed for faults: with the 200 of a curve, of some 5 kB each, they
/// stay below 2 MB.
constexpr std::size_t kMostAround = 900'000;

/// Slowdowns that are no power limit: NVML's bits of hardware, thermal and power brake slowdowns.
constexpr std::uint64_t kHardSlowdown = 0x8 | 0x20 | 0x40 | 0x80;

/// What only grows where something is wrong.
bool counts_faults(std::string_view name) {
  const auto* row = quantity(name);
  return row != nullptr && row->counts && row->unit == "errors";
}

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// In the order in which samplers give them, those of one part stand together: with their values,
/// or only what is reported of each.
void write_readings(const std::vector<Reading>& readings, bool values, JsonLine& line) {
  std::string_view open;
  for (const auto& [part, name, value] : readings) {
    if (part != open) {
      if (!open.empty()) line.end();
      open = part;
      values ? line.object(part) : line.array(part);
    }
    if (!values) {
      line.item(name);
      continue;
    }
    if (name != "throttle") {
      line.add(name, value);
      continue;
    }
    line.array(name);
    for (const auto word : nvml::throttle_words(static_cast<std::uint64_t>(value))) line.item(word);
    line.end();
  }
  if (!open.empty()) line.end();
}

}  // namespace

Watch::Watch(const Tree& tree, const nvml::Library& library, WatchOptions options, Say say)
    : options_{options}, say_{std::move(say)}, names_{tree, library}, kernel_{tree} {
  samplers_.push_back(gpu_sampler(library));
  samplers_.push_back(port_sampler(tree));
  samplers_.push_back(heat_sampler(tree));
  samplers_.push_back(memory_sampler(tree));
}

std::vector<Gap> Watch::gaps() const {
  std::vector<Gap> all;
  for (const auto& sampler : samplers_) std::ranges::copy(sampler->gaps(), std::back_inserter(all));
  if (!kernel_.works()) all.push_back({"kernel messages", "/dev/kmsg", kernel_.why()});
  return all;
}

void Watch::begin() {
  std::vector<Reading> readings;
  for (const auto& sampler : samplers_) sampler->read(true, readings);
  std::ranges::stable_sort(readings, comes_before, &Reading::part);
  JsonLine line{"watch"};
  line.add("program", "cupel-node").add("version", CUPEL_VERSION).add("protocol", 1);
  line.add("every", options_.every).add("slow", options_.slow).add("seconds", options_.seconds);
  line.object("sampled");
  write_readings(readings, false, line);
  line.end().object("places");
  for (const auto& [address, part] : names_.all()) line.add(part, std::string_view{address});
  line.end().add("kernel_log", kernel_.works()).array("unknown");
  for (const auto& gap : gaps())
    line.object()
        .add("fact", std::string_view{gap.fact})
        .add("source", std::string_view{gap.source})
        .add("why", std::string_view{gap.why})
        .end();
  say_(line.text());
}

void Watch::sample(double now) {
  // Half a beat early is in time: a timer is never exactly on it.
  const double close = options_.every / 2;
  const bool slow = now + close >= next_slow_;
  if (slow) next_slow_ = now + options_.slow;
  std::vector<Reading> readings;
  for (const auto& sampler : samplers_) sampler->read(slow, readings);
  summary_.add(readings, options_.every);
  ++samples_;
  if (shows_a_fault(readings)) tell_all_around(now);
  std::ranges::stable_sort(readings, comes_before, &Reading::part);
  say_sample(now, readings);
}

/// Whether something is wrong that was not at the sample before.
bool Watch::shows_a_fault(const std::vector<Reading>& readings) {
  bool shows = false;
  for (const auto& [part, name, value] : readings) {
    const bool throttle = name == "throttle";
    if (!throttle && name != "answers" && !counts_faults(name)) continue;
    const double now =
        throttle ? static_cast<double>(static_cast<std::uint64_t>(value) & kHardSlowdown) : value;
    const auto [before, first] = last_.try_emplace({part, name}, now);
    const bool worse = name == "answers" ? now < before->second : now > before->second;
    shows |= !first && worse;
    before->second = now;
  }
  return shows;
}

void Watch::tell_all_around(double now) {
  all_until_ = now + kAfter;
  for (const auto& text : before_)
    if (around_ + text.size() <= kMostAround) {
      say_(text);
      around_ += text.size();
    }
  before_.clear();
}

std::string Watch::sample_text(double now, const std::vector<Reading>& readings) const {
  JsonLine line{"sample"};
  line.add("seconds", std::round(now * 1000) / 1000).object("parts");
  write_readings(readings, true, line);
  return line.text();
}

/// Where it is due; else where a fault is near, or as one of those before the next fault.
void Watch::say_sample(double now, const std::vector<Reading>& readings) {
  auto text = sample_text(now, readings);
  const bool due = now + options_.every / 2 >= next_print_;
  if (due) next_print_ = now + options_.print;
  const bool around = !due && now <= all_until_ && around_ + text.size() <= kMostAround;
  if (around) around_ += text.size();
  if (due || around) return say_(text);
  before_.push_back(std::move(text));
  if (before_.size() > kBefore) before_.pop_front();
}

void Watch::listen(double now) {
  for (const auto& record : kernel_.read()) {
    ++records_;
    for (const auto& message : reader_.read(record)) take(now, message, record);
  }
}

void Watch::take(double now, const KernelMessage& message, const KernelRecord& record) {
  const auto part = names_.of(message);
  const bool first = summary_.add(message, part);
  // A flood that says nothing is reported once, and counted.
  if (message.weight == Weight::harmless && !first) return;
  if (std::floor(now) != second_) reported_in_second_ = 0;
  second_ = std::floor(now);
  // The first of its kind is reported also in the middle of a flood.
  const bool room = reported_in_second_ < kMostReported && reported_ < kMostInAll;
  if (!room && !first) {
    ++unreported_;
    return;
  }
  ++reported_in_second_, ++reported_;
  if (message.weight != Weight::harmless) tell_all_around(now);
  say_message(now, message, part, record);
}

void Watch::say_message(double now, const KernelMessage& message, const std::string& part,
                        const KernelRecord& record) {
  JsonLine line{"message"};
  line.add("seconds", std::round(now * 1000) / 1000).add("class", to_string(message.kind));
  line.add("weight", to_string(message.weight));
  if (message.code) line.add("code", *message.code);
  line.add("part", std::string_view{part});
  if (!message.pci.empty()) line.add("pci", std::string_view{message.pci});
  line.add("detail", std::string_view{message.detail}).add("since_boot", record.seconds);
  const auto raw = printable(shortened(record.text, kMostLine));
  line.add("line", std::string_view{raw});
  say_(line.text());
}

void Watch::end(double now, bool stopped) {
  listen(now);
  if (const auto last = reader_.rest()) take(now, *last, {});
  const double used = cpu_seconds();
  JsonLine line{"summary"};
  line.add("seconds", std::round(now * 1000) / 1000).add("samples", samples_);
  line.add("complete", !stopped && now + options_.every >= options_.seconds);
  line.add("stopped", stopped);
  summary_.write(line);
  line.add("kernel_log", kernel_.works()).add("kernel_records", records_);
  line.add("kernel_overruns", kernel_.overruns()).add("messages_untold", unreported_);
  line.add("cpu_seconds", used).add("cpu_percent", now > 0 ? 100 * used / now : 0.0);
  line.array("unknown");
  for (const auto& gap : gaps())
    line.object()
        .add("fact", std::string_view{gap.fact})
        .add("source", std::string_view{gap.source})
        .add("why", std::string_view{gap.why})
        .end();
  say_(line.text());
}

}  // namespace cupel::agent
