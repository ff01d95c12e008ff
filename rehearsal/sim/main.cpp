// cupel-sim: the virtual rack as a program of its own. `cupel rehearse` and `cupel rack` start it;
// what it takes for granted (a folder that is there, and is no site's) they have looked at.
#include <CLI/CLI.hpp>
#include <csignal>

#include "rehearsal/sim/catalogue_site.h"
#include "rehearsal/sim/make_image.h"
#include "rehearsal/sim/make_os_image.h"
#include "rehearsal/sim/serve.h"

namespace cupel::rehearsal {
namespace {

void add_rack_words(CLI::App& command, RackSource& source) {
  auto* rack = command.add_option("RACK", source.rack, "a file, or a shipped one by its name");
  command.add_option("--inventory", source.inventory, "virtual nodes in the place of its nodes")
      ->excludes(rack);
  command.add_option("--scenario", source.scenario, "faults, rules, kinds of BMC, boot times");
  command.add_option("--folder", source.folder, "keys, certificates and inventory");
  command.add_option("--slurm", source.slurm, "slurm.conf of a Slurm that knows the nodes");
  command.add_option("--speed", source.speed, "times faster than life");
  command.add_flag("--on", source.on, "machines are switched on at once");
  command.add_option("--seed", source.seed, "of serial numbers and natural spread");
  command.add_option("--boot", source.boot,
                     "its machines have no OS, and boot what is served there");
}

void add_catalogue_words(CLI::App& command, CatalogueSource& source) {
  command.add_option("RACK", source.rack, "the rack that stands; without it, all are listed");
  command.add_option("--folder", source.folder, "of that rack");
  command.add_option("--speed", source.speed, "times faster than life");
  command.add_option("--seed", source.seed, "of serial numbers and natural spread");
  command.add_option("--rack-nodes", source.nodes, "nodes of a rack");
  command.add_option("--boot", source.boot,
                     "the rack's machines have no OS, and boot what is served there");
  command.add_option("--only", source.only, "these faults");
  auto* healthy =
      command.add_option("--healthy", source.healthy_seeds, "so many racks without a fault");
  command.add_option("--scenario", source.scenario, "of each of those")->needs(healthy);
}

void add_image_words(CLI::App& command, ImageSource& source) {
  command.add_option("FILE", source.file, "is written anew")->required();
  command
      .add_option("COMPONENT=VERSION", source.contents,
                  "by the name in a profile, or by the id in the BMC's inventory")
      ->required();
  command.add_option("--model", source.model, "of the only machines that take it");
  command.add_option("--size", source.size, "in bytes, of the whole file")
      ->transform(CLI::AsSizeValue(false));
}

int run_sim(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app{"The virtual rack of Cupel. Start it by `cupel rehearse` or `cupel rack serve`.",
               "cupel-sim"};
  app.set_version_flag("--version", "cupel-sim " CUPEL_VERSION);
  app.require_subcommand(1);
  RackSource source;
  CatalogueSource catalogue;
  ImageSource image;
  auto exit = SimExit::done;
  auto* serve = app.add_subcommand("serve", "a rack that stands until SIGINT or SIGTERM");
  add_rack_words(*serve, source);
  serve->get_option("--folder")->required();
  serve->callback([&] { exit = serve_rack(source); });
  auto* check = app.add_subcommand("check", "what is wrong with a rack and its scenario, as JSON");
  add_rack_words(*check, source);
  check->callback([&] { exit = check_rack(source); });
  auto* faults = app.add_subcommand("catalogue", "the racks of the catalogue of faults, as JSON");
  add_catalogue_words(*faults, catalogue);
  faults->callback([&] {
    exit = catalogue.rack.empty() ? list_catalogue(catalogue) : serve_catalogue(catalogue);
  });
  std::string folder;
  auto* systems =
      app.add_subcommand("os-image", "what virtual machines boot and are installed with");
  systems->add_option("FOLDER", folder, "gets ram.efi, ram.iso and disk.raw.zst")->required();
  systems->callback([&] { exit = make_os_image(folder); });
  auto* make = app.add_subcommand("image", "a firmware image for virtual machines");
  add_image_words(*make, image);
  make->callback([&] { exit = make_image(image); });
  CLI11_PARSE(app, argc, argv);
  return static_cast<int>(exit);
}

}  // namespace
}  // namespace cupel::rehearsal

int main(int argc, char** argv) { return cupel::rehearsal::run_sim(argc, argv); }
