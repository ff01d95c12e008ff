// Drives as nvme-cli 2.4, smartctl 7.3, lsblk, blkid and wipefs tell of them.
#include <fmt/format.h>

#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "rehearsal/physics/random.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/fault_now.h"
#include "rehearsal/tools/firmware_tools.h"
#include "rehearsal/tools/nvme_sanitize.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

const Hardware& hardware(const ProcessPtr& process) { return process->host.machine().hardware(); }

/// SMART / Health Information. Source: NVM Express base specification, log page 02h.
struct Health {
  int celsius = 36, used = 1, spare = 100, warning = 0;
  std::uint64_t read_units = 0, written_units = 0, hours = 0, cycles = 0, media_errors = 0;
};

Health health_of(const Host& host, const Drive& drive) {
  constexpr int kWorn = 97, kThreshold = 100;
  const auto& machine = host.machine();
  const auto draw = Draw{4}.of(drive.serial);
  Health health;
  health.celsius = static_cast<int>(
      std::lround(machine.physics().inlet_celsius() + 10 + draw.of("heat").uniform() * 4));
  // The rack is new: weeks of the maker's tests, which a few drives round up to 1 %.
  constexpr double kRoundedUp = 0.1;
  health.used = draw.of("wear").uniform() < kRoundedUp ? 1 : 0;
  health.hours = 40 + draw.of("hours").bits() % 400;
  health.cycles = 6 + draw.of("cycles").bits() % 30;
  if (const auto* worn = fault_now(machine, FaultKind::nvme_worn, drive.name)) {
    health.used = static_cast<int>(worn->amount.value_or(kWorn));
    health.spare = std::max(5, 100 - health.used);
    health.hours = 31000;
  }
  if (health.used >= kThreshold) health.warning = 4;  // reliability is degraded
  // One rated life is one whole drive a day, for five years.
  constexpr double kTested = 0.05;
  const double written = drive.bytes * 1825 * std::max<double>(health.used, kTested) / 100;
  health.written_units = static_cast<std::uint64_t>(written / 512000);
  health.read_units = health.written_units * 2;
  if (drive.broken) health.media_errors = 1 + draw.of("media").bits() % 40;
  return health;
}

const Drive* drive_named(const Hardware& machine, std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  for (const auto& drive : machine.drives)
    if (name == drive.name || name == drive.name + "n1") return &drive;
  return nullptr;
}

json::object nvme_list(const Hardware& machine) {
  json::array devices;
  for (const auto& drive : machine.drives)
    devices.push_back(json::object{{"NameSpace", 1},
                                   {"DevicePath", "/dev/" + drive.name + "n1"},
                                   {"Firmware", drive.firmware},
                                   {"ModelNumber", drive.model},
                                   {"SerialNumber", drive.serial},
                                   {"UsedBytes", static_cast<std::int64_t>(drive.bytes / 20)},
                                   {"MaximumLBA", static_cast<std::int64_t>(drive.bytes / 512)},
                                   {"PhysicalSize", static_cast<std::int64_t>(drive.bytes)},
                                   {"SectorSize", 512}});
  return {{"Devices", std::move(devices)}};
}

std::string nvme_table(const Hardware& machine) {
  auto text = fmt::format("{:<21} {:<21} {:<20} {:<40} {:<9} {:<26} {:<16} {:<8}\n", "Node",
                          "Generic", "SN", "Model", "Namespace", "Usage", "Format", "FW Rev");
  text += fmt::format("{:-<21} {:-<21} {:-<20} {:-<40} {:-<9} {:-<26} {:-<16} {:-<8}\n", "", "", "",
                      "", "", "", "", "");
  for (const auto& drive : machine.drives) {
    const double terabytes = drive.bytes / 1e12;
    text += fmt::format(
        "/dev/{:<16} /dev/ng{:<14} {:<20} {:<40} {:<9} {:>6.2f}  TB / {:>6.2f}  TB "
        "   512   B +  0 B   {:<8}\n",
        drive.name + "n1", drive.name.substr(4) + "n1", drive.serial, drive.model, 1,
        terabytes / 20, terabytes, drive.firmware);
  }
  return text;
}

/// What nvme and smartctl print alike, but for the names of two.
void add_counters(json::object& log, const Health& health, std::string_view reads,
                  std::string_view writes) {
  log["data_units_read"] = health.read_units;
  log["data_units_written"] = health.written_units;
  log[reads] = health.read_units * 900;
  log[writes] = health.written_units * 900;
  log["controller_busy_time"] = health.hours / 10;
  log["power_cycles"] = health.cycles;
  log["power_on_hours"] = health.hours;
  log["unsafe_shutdowns"] = health.cycles / 2;
  log["media_errors"] = health.media_errors;
  log["num_err_log_entries"] = health.media_errors;
  log["warning_temp_time"] = 0;
  log["critical_comp_time"] = 0;
}

std::string smart_log(const Drive& drive, const Health& health, bool as_json) {
  const int kelvin = health.celsius + 273;
  if (as_json) {
    json::object log{
        {"critical_warning", health.warning}, {"temperature", kelvin},
        {"avail_spare", health.spare},        {"spare_thresh", 10},
        {"percent_used", health.used},        {"endurance_grp_critical_warning_summary", 0}};
    add_counters(log, health, "host_read_commands", "host_write_commands");
    log["temperature_sensor_1"] = kelvin;
    return json::serialize(log) + "\n";
  }
  auto text =
      fmt::format("Smart Log for NVME device:{} namespace-id:ffffffff\n", drive.name + "n1");
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<40}: {}\n", name, value);
  };
  row("critical_warning", std::to_string(health.warning));
  row("temperature", fmt::format("{} °C ({} K)", health.celsius, kelvin));
  row("available_spare", fmt::format("{}%", health.spare));
  row("available_spare_threshold", "10%");
  row("percentage_used", fmt::format("{}%", health.used));
  row("endurance group critical warning summary", "0");
  row("Data Units Read", std::to_string(health.read_units));
  row("Data Units Written", std::to_string(health.written_units));
  row("power_cycles", std::to_string(health.cycles));
  row("power_on_hours", std::to_string(health.hours));
  row("unsafe_shutdowns", std::to_string(health.cycles / 2));
  row("media_errors", std::to_string(health.media_errors));
  row("num_err_log_entries", std::to_string(health.media_errors));
  return text;
}

Task<int> nvme(ProcessPtr process, Arguments arguments) {
  const auto what = arguments.size() > 1 ? arguments[1] : std::string{};
  if (what == "reset") co_return co_await nvme_reset(process, std::move(arguments));
  if (erases_drives(what)) co_return co_await nvme_erase(process, std::move(arguments));
  if (what.starts_with("fw-")) co_return co_await nvme_firmware(process, std::move(arguments));
  Arguments rest{"nvme"};
  if (arguments.size() > 2) rest.insert(rest.end(), arguments.begin() + 2, arguments.end());
  const auto options = parse_options(rest, "o:vH", {{"output-format", 'o'}, {"verbose", 'v'}});
  const bool as_json = options.value('o') == "json";
  if (!options.unknown.empty())
    co_return co_await print_error(process, "nvme",
                                   "unrecognized option '" + options.unknown + "'");
  if (what == "list") {
    const auto text = as_json ? json::serialize(nvme_list(hardware(process))) + "\n"
                              : nvme_table(hardware(process));
    co_await process->say(text);
    co_return 0;
  }
  if (what != "smart-log") {
    const auto text = fmt::format("ERROR: Invalid sub-command '{}' for plugin NVMe\n", what);
    co_await process->print_error(text);
    co_return 1;
  }
  const auto path = options.operands.empty() ? std::string{} : options.operands[0];
  const auto* drive = drive_named(hardware(process), path);
  if (drive == nullptr) co_return co_await print_error(process, path, "No such file or directory");
  const auto text = smart_log(*drive, health_of(process->host, *drive), as_json);
  co_await process->say(text);
  co_return 0;
}

json::object smart_report(const Drive& drive, const Health& health, const Arguments& arguments,
                          double now, int status) {
  json::array words;
  for (const auto& word : arguments) words.push_back(json::value(word));
  const auto bytes = static_cast<std::int64_t>(drive.bytes);
  json::object health_log{{"critical_warning", health.warning},
                          {"temperature", health.celsius},
                          {"available_spare", health.spare},
                          {"available_spare_threshold", 10},
                          {"percentage_used", health.used}};
  add_counters(health_log, health, "host_reads", "host_writes");
  return {{"json_format_version", json::array{1, 0}},
          {"smartctl", json::object{{"version", json::array{7, 3}},
                                    {"svn_revision", "5338"},
                                    {"platform_info", "x86_64-linux-6.1.0-21-amd64"},
                                    {"build_info", "(local build)"},
                                    {"argv", std::move(words)},
                                    {"exit_status", status}}},
          {"local_time", json::object{{"time_t", static_cast<std::int64_t>(now)}, {"asctime", ""}}},
          {"device", json::object{{"name", "/dev/" + drive.name},
                                  {"info_name", "/dev/" + drive.name},
                                  {"type", "nvme"},
                                  {"protocol", "NVMe"}}},
          {"model_name", drive.model},
          {"serial_number", drive.serial},
          {"firmware_version", drive.firmware},
          {"nvme_pci_vendor", json::object{{"id", 5197}, {"subsystem_id", 5197}}},
          {"nvme_ieee_oui_identifier", 9528},
          {"nvme_total_capacity", bytes},
          {"nvme_unallocated_capacity", 0},
          {"nvme_controller_id", 6},
          {"nvme_version", json::object{{"string", "1.4"}, {"value", 66560}}},
          {"nvme_number_of_namespaces", 32},
          {"user_capacity", json::object{{"blocks", bytes / 512}, {"bytes", bytes}}},
          {"logical_block_size", 512},
          {"smart_support", json::object{{"available", true}, {"enabled", true}}},
          {"smart_status", json::object{{"passed", health.warning == 0},
                                        {"nvme", json::object{{"value", health.warning}}}}},
          {"nvme_smart_health_information_log", std::move(health_log)},
          {"temperature", json::object{{"current", health.celsius}}},
          {"power_cycle_count", health.cycles},
          {"power_on_time", json::object{{"hours", health.hours}}}};
}

Task<int> smartctl(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "aHijxAd:l:",
                                     {{"all", 'a'},
                                      {"health", 'H'},
                                      {"info", 'i'},
                                      {"json", 'j'},
                                      {"xall", 'x'},
                                      {"attributes", 'A'},
                                      {"device", 'd'},
                                      {"scan", 's'},
                                      {"log", 'l'}});
  if (!options.unknown.empty()) {
    const auto text = fmt::format(
        "\n=======> UNRECOGNIZED OPTION: {}\n\nUse smartctl -h to get a usage summary\n\n",
        options.unknown.substr(options.unknown.find_first_not_of('-')));
    co_await process->say(text);
    co_return 1;
  }
  const auto& machine = hardware(process);
  std::string text;
  if (options.has('s')) {
    for (const auto& drive : machine.drives)
      text += fmt::format("/dev/{0} -d nvme # /dev/{0}, NVMe device\n", drive.name);
    co_await process->say(text);
    co_return 0;
  }
  const auto path = options.operands.empty() ? std::string{} : options.operands[0];
  const auto* drive = drive_named(machine, path);
  if (drive == nullptr) {
    text = fmt::format("Smartctl open device: {} failed: No such device\n", path);
    co_await process->say(text);
    co_return 2;
  }
  const auto health = health_of(process->host, *drive);
  const int status = health.warning != 0 ? 8 : 0;  // smartctl(8): bit 3, "DISK FAILING"
  if (options.has('j')) {
    text = json::serialize(smart_report(*drive, health, arguments, process->now(), status)) + "\n";
  } else {
    text = fmt::format(
        "smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0-21-amd64] (local build)\n\n=== START OF "
        "SMART DATA SECTION ===\nSMART overall-health self-assessment test result: "
        "{}\n\nSMART/Health "
        "Information (NVMe Log 0x02)\nCritical Warning:                   0x{:02x}\nTemperature:   "
        "   "
        "                  {} Celsius\nAvailable Spare:                    {}%\nAvailable Spare "
        "Threshold:          10%\nPercentage Used:                    {}%\nPower On Hours:         "
        "    "
        "        {}\nMedia and Data Integrity Errors:    {}\n",
        status != 0 ? "FAILED!" : "PASSED", health.warning, health.celsius, health.spare,
        health.used, health.hours, health.media_errors);
  }
  co_await process->say(text);
  co_return status;
}

/// One column of one drive; null where lsblk knows nothing.
json::value column_of(const Drive& drive, const std::string& key, bool bytes, bool paths) {
  const auto name = drive.name + "n1";
  if (key == "name" || key == "kname") return json::value((paths ? "/dev/" : "") + name);
  if (key == "path") return json::value("/dev/" + name);
  if (key == "size")
    return bytes ? json::value(static_cast<std::int64_t>(drive.bytes))
                 : json::value(fmt::format("{:.1f}T", drive.bytes / 1099511627776));
  if (key == "model") return json::value(drive.model);
  if (key == "serial") return json::value(drive.serial);
  if (key == "type") return json::value("disk");
  if (key == "tran") return json::value("nvme");
  if (key == "rota" || key == "rm" || key == "ro" || key == "hotplug") return false;
  if (key == "mountpoints") return json::array{nullptr};
  if (key == "rev") return json::value(drive.firmware);
  if (key == "log-sec" || key == "phy-sec") return 512;
  return nullptr;
}

/// The system's array lies on the first drive, until that is erased.
bool holds_system(const ProcessPtr& process, const Drive& drive) {
  auto& machine = process->host.machine();
  const auto& drives = machine.hardware().drives;
  return !drives.empty() && drives.front().name == drive.name &&
         !is_erased(machine, drive, process->now());
}

/// KEY="value" of each device and what stands on it.
std::string pairs_of(const ProcessPtr& process, const Arguments& requested,
                     const std::vector<std::string_view>& columns) {
  std::string text;
  const auto row = [&](const std::map<std::string, std::string>& known) {
    std::string line;
    for (const auto column : columns) {
      const auto key = lower_case(trimmed(column));
      const auto value = known.find(key);
      line += fmt::format("{}{}=\"{}\"", line.empty() ? "" : " ", trimmed(column),
                          value == known.end() ? "" : value->second);
    }
    text += line + "\n";
  };
  // A system that was booted from an image has not assembled it.
  const bool assembled = !process->host.machine().up_from_image();
  for (const auto& drive : hardware(process).drives) {
    const auto name = drive.name + "n1";
    if (!requested.empty() && std::ranges::find(requested, "/dev/" + name) == requested.end())
      continue;
    const bool system = holds_system(process, drive);
    row({{"name", name},
         {"type", "disk"},
         {"size", fmt::format("{:.0f}", drive.bytes)},
         {"fstype", system ? "linux_raid_member" : ""}});
    if (system && assembled)
      row({{"name", "md0"}, {"type", "raid1"}, {"fstype", "ext4"}, {"mountpoint", "/"}});
  }
  return text;
}

Task<int> blkid(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "po:s:", {{"probe", 'p'}});
  if (!options.unknown.empty())
    co_return co_await print_error(process, "blkid", "invalid option -- '" + options.unknown + "'",
                                   4);
  const auto& machine = hardware(process);
  int status = 2;  // blkid(8): nothing was found
  for (const auto& path : options.operands) {
    const auto* drive = drive_named(machine, path);
    if (drive == nullptr || !holds_system(process, *drive)) continue;
    const auto line =
        fmt::format("{}: VERSION=\"1.2\" UUID=\"{}\" TYPE=\"linux_raid_member\" USAGE=\"raid\"\n",
                    path, machine.uuid);
    co_await process->say(line);
    status = 0;
  }
  co_return status;
}

/// wipefs -n: the signatures that it would erase.
Task<int> wipefs(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(
      arguments,
      "nipO:", {{"no-act", 'n'}, {"noheadings", 'i'}, {"parsable", 'p'}, {"output", 'O'}});
  if (!options.unknown.empty())
    co_return co_await print_error(process, "wipefs",
                                   "unrecognized option '" + options.unknown + "'");
  const auto& machine = hardware(process);
  for (const auto& path : options.operands) {
    const auto* drive = drive_named(machine, path);
    if (drive == nullptr)
      co_return co_await print_error(process, "wipefs",
                                     "error: " + path +
                                         ": probing initialization failed: No such "
                                         "file or directory");
    if (!holds_system(process, *drive)) continue;
    const bool types = options.value('O') == "TYPE";
    const auto name = drive->name + "n1";
    std::string text = options.has('i') ? "" : types ? "TYPE\n" : "DEVICE OFFSET TYPE\n";
    text += types ? "linux_raid_member\n" : fmt::format("{} 0x1000 linux_raid_member\n", name);
    co_await process->say(text);
  }
  co_return 0;
}

Task<int> lsblk(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "Jbo:dnpPrO",
                                     {{"json", 'J'},
                                      {"bytes", 'b'},
                                      {"output", 'o'},
                                      {"nodeps", 'd'},
                                      {"noheadings", 'n'},
                                      {"paths", 'p'}});
  if (!options.unknown.empty())
    co_return co_await print_error(process, "lsblk",
                                   "invalid option -- '" + options.unknown.substr(1) + "'");
  const auto columns_text = options.value('o', "NAME,MAJ:MIN,RM,SIZE,RO,TYPE,MOUNTPOINTS");
  const auto columns = split(columns_text, ',');
  if (options.has('P')) {
    const auto pairs = pairs_of(process, options.operands, columns);
    co_await process->say(pairs);
    co_return pairs.empty() ? 32 : 0;
  }
  json::array devices;
  std::string text;
  if (!options.has('n')) {
    for (const auto column : columns) text += fmt::format("{:<20} ", column);
    text += "\n";
  }
  for (const auto& drive : hardware(process).drives) {
    json::object device;
    for (const auto column : columns) {
      const auto key = lower_case(trimmed(column));
      auto value = column_of(drive, key, options.has('b'), options.has('p'));
      text += fmt::format("{:<20} ", value.is_string() ? std::string{value.as_string()}
                                     : value.is_null() ? std::string{}
                                                       : json::serialize(value));
      device[key] = std::move(value);
    }
    text += "\n";
    devices.push_back(std::move(device));
  }
  if (options.has('J')) {
    const json::object all{{"blockdevices", std::move(devices)}};
    text = json::serialize(all) + "\n";
  }
  co_await process->say(text);
  co_return 0;
}

/// --rereadpt: no drive here has partitions.
Task<int> blockdev(ProcessPtr process, Arguments arguments) {
  const auto path = arguments.size() > 2 ? arguments[2] : std::string{};
  const bool known = drive_named(hardware(process), path) != nullptr;
  if (known && arguments[1] == "--rereadpt") co_return 0;
  co_return co_await print_error(process, "blockdev",
                                 "cannot open " + path + ": No such file or directory");
}

constexpr auto kTools = std::to_array<Tool>({{"blkid", blkid},
                                             {"blockdev", blockdev},
                                             {"lsblk", lsblk},
                                             {"nvme", nvme},
                                             {"smartctl", smartctl},
                                             {"wipefs", wipefs}});

}  // namespace

std::span<const Tool> drive_tools() { return kTools; }

}  // namespace cupel::rehearsal
