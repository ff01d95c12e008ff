// fio 3.33: jobs on the command line, JSON out, in the time it takes.
#include <fmt/format.h>

#include <cerrno>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/shell/system_tree.h"
#include "rehearsal/tools/streams.h"
#include "rehearsal/tools/stress_ng.h"

namespace cupel::rehearsal {
namespace {

using Settings = std::map<std::string, std::string>;

struct Job {
  std::string name;
  Settings settings;

  std::string value(const std::string& key, const std::string& otherwise = {}) const {
    const auto found = settings.find(key);
    return found == settings.end() ? otherwise : found->second;
  }
  bool reads() const {
    return value("rw", "read").contains("read") || value("rw") == "rw" || value("rw") == "randrw";
  }
  bool writes() const {
    return value("rw", "read").contains("write") || value("rw") == "rw" || value("rw") == "randrw";
  }
};

std::string canonical(std::string key) {
  if (key == "readwrite") return "rw";
  if (key == "blocksize") return "bs";
  if (key == "filesize") return "size";
  return key;
}

/// Of fio(1), those that people use for a drive's test.
constexpr auto kKnown = std::to_array<std::string_view>({"rw",
                                                         "bs",
                                                         "size",
                                                         "filename",
                                                         "directory",
                                                         "ioengine",
                                                         "direct",
                                                         "iodepth",
                                                         "numjobs",
                                                         "runtime",
                                                         "time_based",
                                                         "group_reporting",
                                                         "verify",
                                                         "do_verify",
                                                         "stonewall",
                                                         "end_fsync",
                                                         "fsync",
                                                         "randrepeat",
                                                         "norandommap",
                                                         "ramp_time",
                                                         "thread",
                                                         "unlink",
                                                         "fallocate",
                                                         "invalidate",
                                                         "continue_on_error",
                                                         "verify_state_save",
                                                         "verify_fatal",
                                                         "verify_dump",
                                                         "lat_percentiles",
                                                         "percentile_list",
                                                         "rwmixread",
                                                         "rwmixwrite",
                                                         "loops",
                                                         "offset",
                                                         "refill_buffers",
                                                         "buffer_compress_percentage",
                                                         "randseed",
                                                         "create_on_open",
                                                         "file_service_type",
                                                         "nrfiles",
                                                         "openfiles",
                                                         "cpus_allowed",
                                                         "numa_cpu_nodes",
                                                         "io_size",
                                                         "rate",
                                                         "rate_iops",
                                                         "startdelay",
                                                         "wait_for_previous",
                                                         "overwrite",
                                                         "exitall",
                                                         "clat_percentiles",
                                                         "log_avg_msec",
                                                         "write_bw_log",
                                                         "write_lat_log",
                                                         "write_iops_log",
                                                         "readonly",
                                                         "allow_file_create",
                                                         "sync",
                                                         "hipri",
                                                         "registerfiles",
                                                         "fixedbufs",
                                                         "sqthread_poll",
                                                         "verify_pattern",
                                                         "verify_backlog",
                                                         "verify_async",
                                                         "experimental_verify",
                                                         "trim",
                                                         "buffer_pattern",
                                                         "zero_buffers",
                                                         "scramble_buffers",
                                                         "thinktime",
                                                         "description"});

/// "--name=..." begins a job; what stands before the first one is for all.
std::vector<Job> read_jobs(const Arguments& arguments, Settings& general) {
  constexpr std::array<std::string_view, 7> kGeneral{
      "output-format", "output", "status-interval", "eta", "minimal", "version", "enghelp"};
  std::vector<Job> jobs;
  Settings shared;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (!arguments[i].starts_with("--")) continue;
    const auto equals = arguments[i].find('=');
    const auto key =
        canonical(arguments[i].substr(2, equals == std::string::npos ? equals : equals - 2));
    const auto value =
        equals == std::string::npos ? std::string{"1"} : arguments[i].substr(equals + 1);
    const bool known = key == "name" || std::ranges::find(kKnown, key) != kKnown.end();
    if (std::ranges::find(kGeneral, std::string_view{key}) != kGeneral.end())
      general[key] = value;
    else if (!known)
      general.try_emplace("unknown", arguments[i].substr(0, equals));
    else if (key == "name")
      jobs.push_back({value, shared});
    else if (jobs.empty())
      shared[key] = value;
    else
      jobs.back().settings[key] = value;
  }
  return jobs;
}

json::object latency(double mean, double count) {
  if (mean == 0) return {{"min", 0}, {"max", 0}, {"mean", 0.0}, {"stddev", 0.0}, {"N", 0}};
  json::object percentiles;
  for (const auto& [name, factor] :
       std::initializer_list<std::pair<const char*, double>>{{"1.000000", 0.4},
                                                             {"50.000000", 0.95},
                                                             {"90.000000", 1.4},
                                                             {"95.000000", 1.6},
                                                             {"99.000000", 2.4},
                                                             {"99.900000", 5},
                                                             {"99.990000", 9}})
    percentiles[name] = static_cast<std::int64_t>(mean * factor);
  return {{"min", static_cast<std::int64_t>(mean * 0.3)},
          {"max", static_cast<std::int64_t>(mean * 12)},
          {"mean", mean},
          {"stddev", mean * 0.4},
          {"N", static_cast<std::int64_t>(count)},
          {"percentile", std::move(percentiles)}};
}

/// One way of one job: so many bytes in so many seconds.
json::object direction(double bytes, double block, double seconds) {
  const double bytes_a_second = seconds > 0 ? bytes / seconds : 0,
               operations = block > 0 ? bytes / block : 0;
  const bool any = bytes_a_second > 0;
  const double wait = any ? block / bytes_a_second * 1e9 : 0;
  return {{"io_bytes", static_cast<std::int64_t>(bytes)},
          {"io_kbytes", static_cast<std::int64_t>(bytes / 1024)},
          {"bw_bytes", static_cast<std::int64_t>(bytes_a_second)},
          {"bw", static_cast<std::int64_t>(bytes_a_second / 1024)},
          {"iops", seconds > 0 ? operations / seconds : 0.0},
          {"runtime", any ? static_cast<std::int64_t>(seconds * 1000) : 0},
          {"total_ios", static_cast<std::int64_t>(operations)},
          {"short_ios", 0},
          {"drop_ios", 0},
          {"slat_ns", latency(0, 0)},
          {"clat_ns", latency(wait, operations)},
          {"lat_ns", latency(wait, operations)},
          {"bw_min", static_cast<std::int64_t>(bytes_a_second / 1024 * 0.97)},
          {"bw_max", static_cast<std::int64_t>(bytes_a_second / 1024 * 1.02)},
          {"bw_agg", any ? 100.0 : 0.0},
          {"bw_mean", bytes_a_second / 1024}};
}

/// The drive under a path: the device's own, or the first one, which holds the root file system.
std::optional<Drive> drive_under(const Hardware& hardware, const std::string& path) {
  if (path.starts_with(kSharedFolder)) return std::nullopt;
  for (const auto& drive : hardware.drives)
    if (path.starts_with("/dev/" + drive.name + "n")) return drive;
  if (hardware.drives.empty()) return std::nullopt;
  return hardware.drives.front();
}

/// fio(1): `filename` lies in `directory`, unless it says itself where it lies.
std::string path_of(const Job& job) {
  const auto name = job.value("filename", job.name + ".0.0");
  return name.starts_with('/') ? name : job.value("directory", ".") + "/" + name;
}

/// As fio lays its JSON out: its readers find its ends by lines that are a brace and nothing else.
void lay_out(const json::value& value, std::size_t depth, std::string& text) {
  const auto* object = value.if_object();
  const auto* array = value.if_array();
  if (!object && !array) {
    text += value.is_double() ? fmt::format("{:.6f}", value.as_double()) : json::serialize(value);
    return;
  }
  const std::string margin((depth + 1) * 2, ' ');
  std::string between = "\n";
  const auto next = [&] {
    text += std::exchange(between, ",\n");
    text += margin;
  };
  text += object ? '{' : '[';
  if (object)
    for (const auto& entry : *object) {
      next();
      text += json::serialize(entry.key()) + " : ";
      lay_out(entry.value(), depth + 1, text);
    }
  else
    for (const auto& each : *array) {
      next();
      lay_out(each, depth + 1, text);
    }
  text += "\n" + std::string(depth * 2, ' ') + (object ? '}' : ']');
}

/// A row of "disk_util": the block device under the file.
json::value use_of(const Drive& drive, double operations) {
  const auto count = static_cast<std::int64_t>(operations);
  return {{"name", drive.name + "n1"}, {"read_ios", count}, {"write_ios", count},
          {"read_merges", 0},          {"write_merges", 0}, {"read_ticks", count},
          {"write_ticks", count},      {"in_queue", count}, {"util", 99.5}};
}

struct Outcome {
  json::object report{};
  std::optional<Drive> drive{};  // as it was when the job began: a machine can be refitted under it
  std::string complaint{};
  int error = 0;
};

/// Bytes a second.
struct Rates {
  double read = 6.5e9;
  double write = 3.9e9;
};

/// What a fault leaves of the drive's speed.
double share_of(const Machine& machine, const Drive& drive) {
  constexpr double kSlow = 0.1;
  const auto* fault = find_fault(machine.faults(), FaultKind::disk_slow, drive.name);
  return fault == nullptr ? 1 : fault->amount.value_or(kSlow);
}

Rates rates_of(const Job& job, const std::optional<Drive>& drive, const Machine& machine) {
  // A shared file system is as fast as a node's network to it.
  const auto network = Rates{.read = 11e9, .write = 8e9};
  const auto rates = job.value("rw").starts_with("rand") ? Rates{3.1e9, 1.2e9}
                     : drive                             ? Rates{}
                                                         : network;
  const double share =
      (drive ? share_of(machine, *drive) : 1.0) * machine.physics().speed(0, Work::disk);
  return {rates.read * share, rates.write * share};
}

Task<Outcome> run_job(ProcessPtr process, const Job& job) {
  auto& disk = process->disk();
  const auto path = process->path(path_of(job));
  const auto drive = drive_under(process->host.machine().hardware(), path);
  auto place = disk.place(path);
  Outcome outcome{.drive = drive};
  const bool shared = path.starts_with(kSharedFolder);
  if (place.error != 0 || (!drive && !shared)) {
    outcome.error = ENOENT;
    outcome.complaint = fmt::format("fio: {}: No such file or directory\n", path);
  }
  const double size = parse_size(job.value("size", "0")).value_or(0);
  const auto [rate_read, rate_write] = rates_of(job, drive, process->host.machine());
  const bool broken = drive && drive->broken;
  if (outcome.error == 0 && job.writes() && disk.full() && !shared && !path.starts_with("/dev/")) {
    outcome.error = ENOSPC;
    outcome.complaint = fmt::format(
        "fio: io_u error on file {}: No space left on device: write "
        "offset=0, buflen=131072\n",
        path);
  }
  if (outcome.error == 0 && !place.node) {
    place.node = disk.make_file(place, 0644, process->now());
    place.node->size = static_cast<std::uint64_t>(size);
  }
  const double bytes = size > 0 ? size : 1e9;
  const auto runtime = parse_span(job.value("runtime", "0")).value_or(VirtualTime{0});
  const double natural = (job.writes() ? bytes / rate_write : 0) +
                         (job.reads() || job.settings.contains("verify") ? bytes / rate_read : 0);
  double seconds = natural;
  if (runtime.count() > 0)
    seconds =
        job.settings.contains("time_based") ? runtime.count() : std::min(natural, runtime.count());
  if (broken && outcome.error == 0) {
    seconds = std::min(seconds, 1.0);
    outcome.error = job.settings.contains("verify") ? EILSEQ : EIO;
    outcome.complaint = fmt::format(
        "fio: io_u error on file {}: Input/output error: {} offset=2097152, buflen=131072\n", path,
        job.writes() ? "write" : "read");
  }
  auto& machine = process->host.machine();
  const double drives =
      static_cast<double>(std::max<std::size_t>(machine.hardware().drives.size(), 1));
  auto load = machine.physics().hold({.work = Work::disk, .share = 1 / drives});
  co_await process->sleep(VirtualTime{seconds});
  load.end();
  const double block = parse_size(job.value("bs", "4k")).value_or(4096);
  json::object settings{{"name", job.name}};
  for (const auto& [key, value] : job.settings) settings[key] = value;
  const bool verifies = job.settings.contains("verify") && job.writes();
  const bool good = outcome.error == 0;
  // Both ways of a job run for their own part of the time, and move the same bytes.
  const double write_time = job.writes() ? seconds * (bytes / rate_write) / natural : 0;
  const double read_time = seconds - write_time;
  const double read = good && (job.reads() || verifies) ? rate_read * read_time : 0;
  const double written = good && job.writes() ? rate_write * write_time : 0;
  outcome.report = {{"jobname", job.name},
                    {"groupid", 0},
                    {"error", outcome.error},
                    {"eta", 0},
                    {"elapsed", static_cast<std::int64_t>(seconds) + 1},
                    {"job options", std::move(settings)},
                    {"read", direction(std::round(read), block, read_time)},
                    {"write", direction(std::round(written), block, write_time)},
                    {"trim", direction(0, block, 0)},
                    {"job_runtime", static_cast<std::int64_t>(seconds * 1000)},
                    {"usr_cpu", 2.4},
                    {"sys_cpu", 30.2}};
  if (outcome.error != 0) outcome.report["total_err"] = 1;
  if (job.settings.contains("unlink") && place.folder) disk.remove(place);
  co_return outcome;
}

Task<int> fio(ProcessPtr process, Arguments arguments) {
  Settings general;
  const auto jobs = read_jobs(arguments, general);
  if (general.contains("version")) {
    co_await process->say("fio-3.33\n");
    co_return 0;
  }
  if (general.contains("enghelp")) {
    co_await process->say("Available IO engines:\n\tsync\n\tpsync\n\tio_uring\n\tlibaio\n");
    co_return 0;
  }
  if (general.contains("unknown")) {
    const auto text = fmt::format("fio: unrecognized option '{}'\n", general["unknown"]);
    co_await process->print_error(text);
    co_return 1;
  }
  if (jobs.empty()) co_return co_await print_error(process, "fio", "No job(s) defined");
  json::array reports;
  std::map<std::string, json::value> used;
  int status = 0;
  for (const auto& job : jobs) {
    auto outcome = co_await run_job(process, job);
    if (process->fatal() != 0) co_return 128 + process->fatal();
    if (outcome.error != 0) status = 1;
    if (!outcome.complaint.empty()) co_await process->print_error(outcome.complaint);
    if (outcome.drive) used.emplace(outcome.drive->name, use_of(*outcome.drive, 1000));
    reports.push_back(std::move(outcome.report));
  }
  std::string text;
  if (general["output-format"].starts_with("json")) {
    json::array devices;
    for (auto& [name, use] : used) devices.push_back(std::move(use));
    lay_out(json::object{{"fio version", "fio-3.33"},
                         {"timestamp", static_cast<std::int64_t>(process->now())},
                         {"jobs", std::move(reports)},
                         {"disk_util", std::move(devices)}},
            0, text);
    text += "\n";
  } else {
    for (const auto& report : reports) {
      const auto& one = report.as_object();
      text +=
          fmt::format("{}: (groupid=0, jobs=1): err={:>2}\n",
                      std::string{one.at("jobname").as_string()}, one.at("error").to_number<int>());
    }
  }
  if (!general.contains("output")) {
    co_await process->say(text);
    co_return status;
  }
  if (!save_text(*process, general["output"], text)) co_return 1;
  co_return status;
}

constexpr std::array<Tool, 2> kTools{{{"fio", fio}, {"stress-ng", stress_ng}}};

}  // namespace

std::span<const Tool> load_tools() { return kTools; }

}  // namespace cupel::rehearsal
