// Source: NVM Express base specification 2.0, Identify Controller (OACS, FNA, SANICAP), Sanitize,
// Format NVM, status codes; texts of nvme-cli 2.4.
#include "rehearsal/tools/nvme_sanitize.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "rehearsal/drive_erase.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/fault_now.h"
#include "rehearsal/tools/nap.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

constexpr int kBlockErase = 2, kCryptoErase = 4;
constexpr double kCryptoSeconds = 13, kBlockSeconds = 90;  // as such drives estimate them
constexpr VirtualTime kFormatTakes{20};
constexpr std::uint32_t kCryptoAndBlock = 0x60000003, kNone = 0;

const Drive* drive_at(const Hardware& machine, std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  for (const auto& drive : machine.drives)
    if (name == drive.name || name == drive.name + "n1") return &drive;
  return nullptr;
}

bool is_old(const Machine& machine, const Drive& drive) {
  return fault_now(machine, FaultKind::nvme_no_sanitize, drive.name) != nullptr;
}

/// Its firmware, or what started before the system, has locked the commands that erase.
bool is_locked(const Machine& machine, const Drive& drive) {
  return fault_now(machine, FaultKind::nvme_sanitize_locked, drive.name) != nullptr;
}

DriveErase& erase_of(Machine& machine, const Drive& drive) {
  return machine.drive_erases()[drive.serial];
}

/// A machine whose system's drive is erased starts from nothing any more.
void lose_system(Machine& machine, const Drive& drive) {
  if (machine.hardware().drives.front().name == drive.name) machine.empty_disks();
}

Task<int> refused(ProcessPtr process, std::string status) {
  const auto text = "NVMe status: " + status + "\n";
  co_await process->print_error(text);
  co_return 1;
}

Task<int> identify(ProcessPtr process, Drive drive, bool as_json) {
  const auto& machine = process->host.machine();
  const bool old = is_old(machine, drive);
  const json::object id{{"vid", 5197},
                        {"ssvid", 5197},
                        {"sn", fmt::format("{:<20}", drive.serial)},
                        {"mn", fmt::format("{:<40}", drive.model)},
                        {"fr", fmt::format("{:<8}", drive.firmware)},
                        {"oacs", 0x5e},
                        {"tnvmcap", static_cast<std::int64_t>(drive.bytes)},
                        {"unvmcap", 0},
                        {"sanicap", old ? kNone : kCryptoAndBlock},
                        {"fna", old ? 0 : 4}};
  std::string text = json::serialize(id) + "\n";
  if (!as_json) {
    text = "NVME Identify Controller:\n";
    for (const auto& [key, value] : id)
      text +=
          fmt::format("{:<10}: {}\n", std::string_view{key},
                      value.is_string() ? std::string{value.as_string()} : json::serialize(value));
  }
  co_await process->say(text);
  co_return 0;
}

Task<int> start_sanitize(ProcessPtr process, Drive drive, std::string word) {
  auto& machine = process->host.machine();
  const auto action = number<int>(word).value_or(0);
  if (action != kBlockErase && action != kCryptoErase)
    co_return co_await print_error(process, "Invalid Sanitize Action", word);
  if (is_old(machine, drive))
    co_return co_await refused(process,
                               "Invalid Field in Command: A "
                               "reserved coded value or an "
                               "unsupported value in a defined "
                               "field(0x4002)");
  if (is_locked(machine, drive))
    co_return co_await refused(process,
                               "Command Prohibited by Command and Feature Lockdown(0x4028)");
  auto& erase = erase_of(machine, drive);
  if (erase.runs(process->now()))
    co_return co_await refused(process,
                               "Sanitize In Progress: The requested function is prohibited "
                               "while a sanitize operation is in progress(0x401d)");
  erase = {.action = action,
           .began = process->now(),
           .takes = erase.slower * (action == kCryptoErase ? kCryptoSeconds : kBlockSeconds),
           .fails = fault_now(machine, FaultKind::nvme_sanitize_fails, drive.name) != nullptr,
           .slower = erase.slower};
  lose_system(machine, drive);
  co_return 0;
}

/// As "%#x" of printf.
std::string hex(int number) { return number == 0 ? "0" : fmt::format("{:#x}", number); }

Task<int> sanitize_log(ProcessPtr process, Drive drive) {
  auto& machine = process->host.machine();
  if (is_old(machine, drive))
    co_return co_await refused(process,
                               "Invalid Log Page: The log page indicated is invalid(0x4109)");
  const auto& erase = erase_of(machine, drive);
  const auto now = process->now();
  const auto text = fmt::format(
      "Sanitize Progress                      (SPROG) :  {}\n"
      "Sanitize Status                        (SSTAT) :  {}\n"
      "Sanitize Command Dword 10 Information (SCDW10) :  {}\n"
      "Estimated Time For Overwrite                   :  4294967295 (No time period reported)\n"
      "Estimated Time For Block Erase                 :  90\n"
      "Estimated Time For Crypto Erase                :  13\n",
      erase.progress(now), hex(erase.status(now)), hex(erase.action));
  co_await process->say(text);
  co_return 0;
}

Task<int> format_drive(ProcessPtr process, Drive drive, std::string secure) {
  auto& machine = process->host.machine();
  if (is_locked(machine, drive))
    co_return co_await refused(process,
                               "Command Prohibited by Command and Feature Lockdown(0x4028)");
  if (erase_of(machine, drive).runs(process->now()))
    co_return co_await refused(process,
                               "Sanitize In Progress: The requested function is prohibited "
                               "while a sanitize operation is in progress(0x401d)");
  if (secure == "2" && is_old(machine, drive))
    co_return co_await refused(process,
                               "Invalid Format: The LBA Format specified is not "
                               "supported(0x410a)");
  co_await process->sleep(nap_of(machine, kFormatTakes));
  if (secure == "1" || secure == "2") {
    erase_of(machine, drive).erased = true;
    lose_system(machine, drive);
  }
  const auto text = std::string{"Success formatting namespace:1\n"};
  co_await process->say(text);
  co_return 0;
}

}  // namespace

bool is_erased(Machine& machine, const Drive& drive, double now) {
  const auto& erase = erase_of(machine, drive);
  return erase.erased || erase.is_done(now);
}

bool erases_drives(std::string_view subcommand) {
  return subcommand == "id-ctrl" || subcommand == "sanitize" || subcommand == "sanitize-log" ||
         subcommand == "format";
}

Task<int> nvme_erase(ProcessPtr process, Arguments arguments) {
  const auto what = arguments[1];
  Arguments rest{"nvme"};
  rest.insert(rest.end(), arguments.begin() + 2, arguments.end());
  const auto options = parse_options(rest, "a:s:fo:n:Hv",
                                     {{"sanact", 'a'},
                                      {"ses", 's'},
                                      {"force", 'f'},
                                      {"output-format", 'o'},
                                      {"namespace-id", 'n'},
                                      {"human-readable", 'H'},
                                      {"verbose", 'v'}});
  if (!options.unknown.empty())
    co_return co_await print_error(process, "nvme",
                                   "unrecognized option '" + options.unknown + "'");
  const auto path = options.operands.empty() ? std::string{} : options.operands[0];
  const auto* found = drive_at(process->host.machine().hardware(), path);
  if (found == nullptr) co_return co_await print_error(process, path, "No such file or directory");
  const auto drive = *found;  // the machine may change while this waits
  if (what == "id-ctrl") co_return co_await identify(process, drive, options.value('o') == "json");
  if (what == "sanitize") co_return co_await start_sanitize(process, drive, options.value('a'));
  if (what == "sanitize-log") co_return co_await sanitize_log(process, drive);
  co_return co_await format_drive(process, drive, options.value('s', "0"));
}

}  // namespace cupel::rehearsal
