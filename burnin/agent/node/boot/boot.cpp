#include <signal.h>

#include <array>
#include <string>

#include "burnin/agent/common/json_line.h"
#include "burnin/agent/node/boot/run_boot.h"
#include "burnin/agent/node/boot/subcommand.h"
#include "burnin/agent/node/boot/write_image_command.h"

namespace cupel::agent::boot {
namespace {

constexpr std::array kWords{
    Subcommand{"run", "[--url URL]", "finds the ticket, gets the order and does it",
               run_boot_command},
    Subcommand{"disks", "[--root DIR]", "the disks of this machine, a line each", disks_command},
    Subcommand{"hello", "[--root DIR]", "who this machine is, as an installer says it",
               hello_command},
    Subcommand{"choose", "--serial SERIAL [--wipe SERIAL] [--root DIR]",
               "the disk that an installer may write", choose_command},
    Subcommand{"write-image",
               "--disk PATH --content-size BYTES --sha256 HEX [--size BYTES] "
               "[--readback none|sampled|whole]",
               "writes the compressed image on standard input", write_image_command},
};

}  // namespace

int boot(Arguments arguments) {
  // A child that ends early is an error of write(), not our end.
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  if (!arguments.empty())
    for (const auto& each : kWords)
      if (each.name == arguments.front()) return each.run(arguments.subspan(1));
  std::string text = "usage: cupel-node boot ...\n";
  for (const auto& each : kWords)
    text.append("  ").append(each.name).append(" ").append(each.usage).append("\n");
  write_all(2, text);
  return kUsage;
}

}  // namespace cupel::agent::boot
