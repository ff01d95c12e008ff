#include "burnin/agent/node/hold.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "burnin/agent/common/descriptor.h"
#include "burnin/agent/common/json_line.h"
#include "burnin/agent/common/options.h"
#include "burnin/agent/node/tree.h"

namespace cupel::agent {
namespace {

using Kind = Choice::Kind;

constexpr std::array kChoices{
    Choice{.name = "--device", .kind = Kind::kText, .help = "the block device"},
    Choice{.name = "--serial", .kind = Kind::kText, .help = "the serial number that it must have"},
    Choice{.name = "--root", .kind = Kind::kText, .fallback = "/", .help = "where /sys lies"},
};

int refuse(std::string_view device, std::string_view why, int status) {
  write_all(2, std::string{device} + " is not touched: " + std::string{why} + "\n");
  return status;
}

/// What the kernel reports of the device that is open, whatever its name was.
std::string serial_of(const Tree& tree, dev_t number) {
  const auto folder =
      "/sys/dev/block/" + std::to_string(major(number)) + ":" + std::to_string(minor(number));
  return tree.text(folder + "/device/serial").value_or("");
}

[[noreturn]] void become(const std::vector<std::string_view>& command) {
  std::vector<std::string> words{command.begin(), command.end()};
  std::vector<char*> pointers;
  for (auto& each : words) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  ::execvp(pointers.front(), pointers.data());
  const int why = errno;
  write_all(2, words.front() + ": " + std::strerror(why) + "\n");
  ::_exit(why == ENOENT ? 127 : 126);
}

}  // namespace

int hold_device(Arguments arguments) {
  const auto options = Options::read(kChoices, arguments);
  if (!options) return refuse("the device", options.error().what, kUsage);
  const auto &path = options->text("--device"), &serial = options->text("--serial");
  if (path.empty() || serial.empty() || options->command().empty() || !options->operands().empty())
    return refuse("the device", "hold wants --device, --serial and -- COMMAND", kUsage);
  // Looked at first: to open another kind of file may wait, or do something.
  struct stat what{};
  if (::stat(path.c_str(), &what) != 0) return refuse(path, std::strerror(errno), kFoundOutNothing);
  if (!S_ISBLK(what.st_mode)) return refuse(path, "it is no block device", kFoundOutNothing);
  // The command inherits it, and the claim with it: no O_CLOEXEC.
  const Descriptor device{::open(path.c_str(), O_RDWR | O_EXCL | O_NONBLOCK)};
  if (!device)
    return refuse(path, errno == EBUSY ? "it is in use (O_EXCL)" : std::strerror(errno),
                  kFoundOutNothing);
  if (::fstat(device.number(), &what) != 0 || !S_ISBLK(what.st_mode))
    return refuse(path, "it is no block device", kFoundOutNothing);
  const auto found = serial_of(Tree{options->text("--root")}, what.st_rdev);
  if (found != serial)
    return refuse(path, "its serial number is '" + found + "', not '" + serial + "'",
                  kFoundOutNothing);
  become(options->command());
}

}  // namespace cupel::agent
