// `cupel-burn nccl-id`: an id as NCCL makes it on this node, with the address that it holds; or
// whether the address of another node's id can be reached from here. Needs no GPU.
#include <array>

#include "burnin/agent/burn/command.h"
#include "burnin/agent/burn/nccl_meeting.h"

namespace cupel::burn {
namespace {

constexpr std::array kChoices{
    Choice{.name = "--interface",
           .kind = Choice::Kind::kText,
           .help = "network interface whose address the id gets (NCCL_SOCKET_IFNAME)"},
    Choice{.name = "--address",
           .kind = Choice::Kind::kText,
           .help = "the id gets the address of the interface that has it; an error where none has"},
    Choice{.name = "--id-file",
           .kind = Choice::Kind::kText,
           .help = "makes none: reads another node's and connects to its address; -: from stdin"},
    Choice{.name = "--within",
           .kind = Choice::Kind::kNumber,
           .fallback = "15",
           .low = 1,
           .high = 600,
           .help = "seconds to connect, at most"},
};

/// The id is printed while this process listens on its address: it is useless once the process
/// ends.
Outcome<> run(const Options& options, Report& report, Stop& stop, Watchdog&) {
  TRY(choose_interface(options));
  const std::chrono::duration<double> within{options.number("--within")};
  const auto is_over = [&stop] { return stop.over(); };
  if (options.given("--id-file")) {
    report.start({.command = options.command(), .parameters = options.parameters()});
    TRY(const auto meeting, read_id(options));
    TRY(reach(meeting.id, within, is_over));
    agent::JsonLine line{"nccl-reached"};
    report.say(line.add("address", meeting.id.address).add("port", int{meeting.id.port}));
    return done();
  }
  const auto library = nccl::Library::load(nccl::usual_places());
  report.start({.command = options.command(),
                .nccl = library ? library->version_name() : "",
                .parameters = options.parameters()});
  if (!library) return library.error();
  TRY(const auto meeting, make_id(*library));
  TRY(reach(meeting.id, within, is_over));
  report.say(id_line(meeting.id, library->version_name()));
  return done();
}

}  // namespace

Command nccl_id_command() {
  return {.name = "nccl-id",
          .help = "where NCCL's ranks of several nodes would meet: makes an id, or reaches one",
          .choices = kChoices,
          .run = run};
}

}  // namespace cupel::burn
