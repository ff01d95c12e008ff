#include "burnin/agent/burn/report.h"

#include <unistd.h>

namespace cupel::burn {

using agent::JsonLine;

namespace {

std::string hex(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), kDigits[value & 15]);
    value >>= 4;
  } while (value != 0);
  return "0x" + text;
}

void add_gpus(const std::vector<Gpu>& gpus, JsonLine& line) {
  line.array("gpus");
  for (const auto& gpu : gpus) {
    line.object().add("index", gpu.index).add("uuid", gpu.uuid).add("pci", gpu.pci);
    line.add("name", gpu.name).add("sms", gpu.sms).add("memory", gpu.memory).end();
  }
  line.end();
}

}  // namespace

Report::Report(Sink sink, std::function<Clock::time_point()> now)
    : sink_{std::move(sink)}, now_{std::move(now)}, begun_{now_()} {}

double Report::seconds() const { return std::chrono::duration<double>(now_() - begun_).count(); }

void Report::write(std::string_view line) {
  // Whoever hangs in write(2) must not keep the watchdog from saying so.
  std::unique_lock lock{mutex_, std::chrono::seconds{5}};
  sink_(line);
}

void Report::start(const Start& start) {
  JsonLine line{"start"};
  line.add("program", "cupel-burn").add("version", CUPEL_VERSION).add("protocol", 1);
  line.add("command", start.command).add("cuda", start.cuda).add("driver", start.driver);
  if (!start.nccl.empty()) line.add("nccl", start.nccl);
  add_gpus(start.gpus, line);
  line.raw("parameters", start.parameters);
  write(line.text());
}

void Report::progress(double of_seconds, std::uint64_t round, std::string_view doing) {
  JsonLine line{"progress"};
  line.add("seconds", seconds()).add("of", of_seconds).add("round", round).add("doing", doing);
  write(line.text());
}

void Report::result(std::string_view name, std::string_view part, double value,
                    std::string_view unit, const Labels& labels) {
  result(name, part, Samples{{value}}, unit, labels);
}

void Report::result(std::string_view name, std::string_view part, const Samples& samples,
                    std::string_view unit, const Labels& labels) {
  if (samples.count() == 0) return;
  JsonLine line{"result"};
  line.add("name", name).add("part", part).add("value", samples.median()).add("unit", unit);
  line.object("labels");
  for (const auto& [label, value] : labels) line.add(label, value);
  line.end().add("count", samples.count()).add("spread", samples.spread());
  write(line.text());
}

void Report::fault(const Fault& fault, std::uint64_t times) {
  faults_ += times;
  if (fault_lines_.fetch_add(1) >= kMostFaultLines) return;
  JsonLine line{"fault"};
  line.add("what", fault.what).add("part", fault.part);
  if (fault.sm) line.add("sm", *fault.sm);
  if (fault.round) line.add("round", *fault.round);
  if (fault.address) line.add("address", hex(*fault.address));
  if (fault.celsius) line.add("celsius", *fault.celsius);
  if (times != 1) line.add("count", times);
  line.add("detail", fault.detail);
  write(line.text());
}

void Report::hang(const Hang& hang) {
  has_hang_ = true;
  JsonLine line{"hang"};
  if (!hang.part.empty()) line.add("part", hang.part);
  line.add("doing", hang.doing).add("seconds", hang.seconds);
  const bool is_alone = hang.late.size() == 1 && hang.late.front() == hang.part;
  if (!is_alone && !hang.late.empty()) {
    line.array("late");
    for (const auto& part : hang.late) line.item(part);
    line.end();
  }
  write(line.text());
}

void Report::failure(const Failure& failure) {
  if (failure.code == kHardware)
    return fault({.what = "gpu-error", .part = failure.part, .detail = failure.message});
  failed_ = true;
  JsonLine line{"error"};
  line.add("code", failure.code);
  if (!failure.part.empty()) line.add("part", failure.part);
  write(line.add("message", failure.message).text());
}

void Report::self_test(std::string_view planted, std::uint64_t found, std::uint64_t of,
                       std::string_view detail) {
  const bool all = found == of && of > 0;
  if (!all) faults_ += of == 0 ? 1 : of - found;
  auto text = std::to_string(found) + " of " + std::to_string(of);
  if (!detail.empty()) text += ": " + std::string{detail};
  JsonLine line{"self-test"};
  write(line.add("planted", planted).add("found", all).add("detail", text).text());
}

void Report::end(bool complete, bool stopped) {
  JsonLine line{"end"};
  line.add("seconds", seconds()).add("faults", faults());
  write(line.add("complete", complete).add("stopped", stopped).text());
}

void Report::say(const JsonLine& line) { write(line.text()); }

void Report::relay(std::string_view line, std::uint64_t faults, bool failed) {
  faults_ += faults;
  if (failed) failed_ = true;
  if (!line.empty()) write(std::string{line} + '\n');
}

Report::Sink to_stdout() {
  // False where nobody reads any more: what runs is stopped by who started it.
  return [](std::string_view line) { agent::write_all(STDOUT_FILENO, line); };
}

int exit_status(const Report& report, bool stopped) {
  if (report.faults() > 0) return 1;
  if (report.failed()) return 2;
  return stopped ? 4 : 0;
}

}  // namespace cupel::burn
