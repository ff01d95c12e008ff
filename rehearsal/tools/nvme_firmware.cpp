// Source: NVM Express base specification, Firmware Image Download and Firmware Commit; texts of
// nvme-cli 2.4.
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "rehearsal/bmc/image.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/firmware_tools.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

/// Commit Action: 1 waits for a reset, 3 is at once.
constexpr std::string_view kAtReset = "1", kAtOnce = "3";

const Drive* controller_named(const Hardware& machine, std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  for (const auto& drive : machine.drives)
    if (name == drive.name || name == drive.name + "n1") return &drive;
  return nullptr;
}

Task<int> download(ProcessPtr process, const Drive& drive, std::string file) {
  if (file.empty()) co_return co_await print_error(process, "nvme", "no firmware file provided");
  const Arguments files{file};
  const auto sources = co_await read_sources(process, "nvme", files);
  if (!sources.good) co_return 1;
  const auto& bytes = sources.all.front().bytes;
  ImageReader reader;
  reader.take(bytes);
  const std::array<std::string_view, 2> names{drive.name, "nvme"};
  const auto version = version_in(bytes, names);
  if (!version || !damage_of(reader.finish()).empty()) {
    co_await process->print_error(
        "NVMe status: Invalid Firmware Image: The firmware image specified "
        "for activation is invalid and not loaded by the controller(0x107)\n");
    co_return 1;
  }
  process->host.machine().downloaded_firmware()[drive.name] = *version;
  co_await process->say("Firmware download success\n");
  co_return 0;
}

Task<int> commit(ProcessPtr process, const Drive& drive, std::string action, std::string slot) {
  auto& machine = process->host.machine();
  const auto image = machine.downloaded_firmware().extract(drive.name);
  if (image.empty()) {
    co_await process->print_error(
        "NVMe status: Invalid Firmware Image: The firmware image specified "
        "for activation is invalid and not loaded by the controller(0x107)\n");
    co_return 1;
  }
  const auto name = drive.name;
  machine.stage_firmware(name, image.mapped());
  if (action == kAtOnce) machine.load_staged_firmware(name);
  const auto text = fmt::format("Success committing firmware action:{} slot:{}\n", action, slot);
  co_await process->say(text);
  co_return 0;
}

Task<int> log(ProcessPtr process, const Drive& drive, bool as_json) {
  const auto& staged = process->host.machine().staged_firmware();
  const auto next = staged.find(drive.name);
  const bool waits = next != staged.end();
  std::string text;
  if (as_json) {
    json::object slots{{"Active Firmware Slot (afi)", waits ? 0x21 : 1},
                       {"Firmware Rev Slot 1", drive.firmware}};
    if (waits) slots["Firmware Rev Slot 2"] = next->second;
    text = json::serialize(json::object{{drive.name, std::move(slots)}}) + "\n";
  } else {
    text = fmt::format("Firmware Log for device:{}\nafi  : {:#x}\nfrs1 : {}\n", drive.name,
                       waits ? 0x21 : 1, drive.firmware);
    if (waits) text += fmt::format("frs2 : {}\n", next->second);
  }
  co_await process->say(text);
  co_return 0;
}

}  // namespace

/// What was committed runs from now on.
Task<int> nvme_reset(ProcessPtr process, Arguments arguments) {
  const auto path = arguments.size() > 2 ? arguments[2] : std::string{};
  auto& machine = process->host.machine();
  const auto* found = controller_named(machine.hardware(), path);
  if (found == nullptr) co_return co_await print_error(process, path, "No such file or directory");
  machine.load_staged_firmware(std::string{found->name});
  co_return 0;
}

Task<int> nvme_firmware(ProcessPtr process, Arguments arguments) {
  const auto what = arguments[1];
  Arguments rest{"nvme"};
  rest.insert(rest.end(), arguments.begin() + 2, arguments.end());
  const auto options = parse_options(rest, "f:x:s:a:o:v",
                                     {{"fw", 'f'},
                                      {"xfer", 'x'},
                                      {"slot", 's'},
                                      {"action", 'a'},
                                      {"output-format", 'o'},
                                      {"verbose", 'v'}});
  if (!options.unknown.empty())
    co_return co_await print_error(process, "nvme",
                                   "unrecognized option '" + options.unknown + "'");
  const auto path = options.operands.empty() ? std::string{} : options.operands[0];
  const auto& hardware = process->host.machine().hardware();
  const auto* found = controller_named(hardware, path);
  if (found == nullptr) co_return co_await print_error(process, path, "No such file or directory");
  const auto drive = *found;  // a commit changes the machine
  if (what == "fw-download") co_return co_await download(process, drive, options.value('f'));
  if (what == "fw-log") co_return co_await log(process, drive, options.value('o') == "json");
  if (what == "fw-commit" || what == "fw-activate") {
    const auto action = options.value('a', std::string{kAtReset});
    co_return co_await commit(process, drive, action, options.value('s', "0"));
  }
  const auto text = fmt::format("ERROR: Invalid sub-command '{}' for plugin NVMe\n", what);
  co_await process->print_error(text);
  co_return 1;
}

}  // namespace cupel::rehearsal
