// cupel-node hold: the first drive is the system's, and always in use.
#include <fmt/format.h>

#include <algorithm>

#include "rehearsal/shell/host.h"
#include "rehearsal/tools/cupel_node.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {

Task<int> virtual_cupel_node_hold(ProcessPtr process, Arguments arguments) {
  const auto dashes = std::ranges::find(arguments, "--");
  const auto value_of = [&](std::string_view name) {
    const auto found = std::find(arguments.begin(), dashes, name);
    return found == dashes || found + 1 == dashes ? std::string{} : *(found + 1);
  };
  const auto device = value_of("--device"), serial = value_of("--serial");
  if (device.empty() || serial.empty() || dashes == arguments.end() ||
      dashes + 1 == arguments.end()) {
    co_await process->complain("hold wants --device, --serial and -- COMMAND\n");
    co_return 64;
  }
  const auto& drives = process->host.machine().hardware().drives;
  const auto drive = std::ranges::find_if(
      drives, [&](const Drive& each) { return device == "/dev/" + each.name + "n1"; });
  std::string why;
  if (drive == drives.end())
    why = "No such file or directory";
  else if (drive == drives.begin())
    why = "it is in use (O_EXCL)";
  else if (drive->serial != serial)
    why = fmt::format("its serial number is '{}', not '{}'", drive->serial, serial);
  if (!why.empty()) {
    const auto text = fmt::format("{} is not touched: {}\n", device, why);
    co_await process->complain(text);
    co_return 2;
  }
  Arguments command(dashes + 1, arguments.end());
  const int status = co_await run_program(process, std::move(command), "cupel-node");
  co_return status;
}

}  // namespace cupel::rehearsal
