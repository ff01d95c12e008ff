// `cupel image`: the store of what machines boot and are installed with.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.h"
#include "orchestrator/cli/image_make.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/images/image_store.h"
#include "orchestrator/images/mirror_conf.h"

namespace cupel::cli {
namespace {

using images::ImageStore;
using images::StoredImage;

struct ImageAsked {
  std::string folder{};
  std::vector<std::string> names{};
  bool yes = false;
};

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

boost::json::object to_json(const StoredImage& stored) {
  if (!stored.image)
    return {{"name", stored.name}, {"error", valid_utf8(stored.image.error().what)}};
  const auto& manifest = stored.image->manifest;
  return {{"name", stored.name},          {"kind", to_string(manifest.kind)},
          {"arch", manifest.arch},        {"made", manifest.made},
          {"size", stored.image->size()}, {"sha256", stored.image->digest()}};
}

Row row_of(const StoredImage& stored) {
  if (!stored.image) return {stored.name, "unusable", "", "", "", stored.image.error().what};
  const auto& manifest = stored.image->manifest;
  return {stored.name,   std::string{to_string(manifest.kind)}, manifest.arch,
          manifest.made, megabytes(stored.image->size()),       stored.image->digest()};
}

Exit show(const Context& context, const std::vector<StoredImage>& all) {
  bool sound = true;
  std::vector<Row> rows{{"name", "kind", "arch", "made", "size", "SHA-256"}};
  boost::json::array array;
  for (const auto& each : all) {
    sound = sound && each.image.has_value();
    rows.push_back(row_of(each));
    array.push_back(to_json(each));
  }
  if (context.json)
    say("{}\n", boost::json::serialize(boost::json::object{{"images", std::move(array)}}));
  else
    say("{}", all.empty() ? "no images: cupel image build or import\n" : table(rows) + "\n");
  return sound ? Exit::passed : Exit::failed;
}

Exit list(const Context& context, const ImageAsked& asked) {
  const auto store = ImageStore::open_or_make(image_folder(context, asked.folder));
  if (!store) return complain(context, store.error(), Exit::invalid);
  const auto all = store->list();
  return all ? show(context, *all) : complain(context, all.error(), Exit::invalid);
}

Exit verify(const Context& context, const ImageAsked& asked) {
  const auto store = ImageStore::open(image_folder(context, asked.folder));
  if (!store) return complain(context, store.error(), Exit::invalid);
  auto names = asked.names;
  if (names.empty()) {
    const auto all = store->list();
    if (!all) return complain(context, all.error(), Exit::invalid);
    for (const auto& each : *all) names.push_back(each.name);
  }
  std::vector<StoredImage> verified;
  for (const auto& name : names) verified.push_back({name, store->verify(name)});
  return show(context, verified);
}

Exit gc(const Context& context, const ImageAsked& asked) {
  const auto store = ImageStore::open(image_folder(context, asked.folder));
  if (!store) return complain(context, store.error(), Exit::invalid);
  auto waste = store->waste({asked.names.begin(), asked.names.end()});
  if (!waste) return complain(context, waste.error(), Exit::invalid);
  // Without a name to keep, only what interrupted builds left.
  if (asked.names.empty()) waste->images.clear();
  if (asked.yes)
    if (const auto removed = store->remove(*waste); !removed)
      return complain(context, removed.error(), Exit::unfinished);
  auto names = waste->images;
  names.insert(names.end(), waste->left.begin(), waste->left.end());
  if (context.json) {
    const boost::json::array array(names.begin(), names.end());
    say("{}\n",
        boost::json::serialize(boost::json::object{{"removed", asked.yes}, {"images", array}}));
    return Exit::passed;
  }
  for (const auto& name : names)
    say("{} {}\n", asked.yes ? "removed" : "would remove", printable(name));
  if (names.empty()) say("nothing to remove\n");
  if (!names.empty() && !asked.yes) say("nothing was removed: --yes removes it\n");
  return Exit::passed;
}

struct MirrorAsked {
  std::string from{};
  std::uint16_t listen = 0;
  int gigabytes = 50;
};

Exit print_mirror_conf(const Context& context, const MirrorAsked& asked,
                       const std::string& folder) {
  const bool is_mirror = !asked.from.empty();
  const std::uint16_t port = asked.listen != 0 ? asked.listen : is_mirror ? 8080 : 8082;
  const auto text = is_mirror ? images::mirror_conf({asked.from, port, asked.gigabytes})
                              : images::store_conf(image_folder(context, folder), port);
  if (!text) return complain(context, text.error(), Exit::invalid);
  say("{}", *text);
  return Exit::passed;
}

void add_mirror_conf(CLI::App& image, Context& context, Exit& exit, const std::string& folder) {
  const auto asked = std::make_shared<MirrorAsked>();
  auto* added = image.add_subcommand("mirror-conf", "print nginx's configuration of a mirror");
  added->footer(
      "Examples: cupel image mirror-conf          beside the image store\n"
      "          cupel image mirror-conf --from http://10.0.0.1:8082/images");
  added->add_option("--from", asked->from,
                    "URL of the image store: a rack's mirror, which caches what it fetches there "
                    "[none: the server of the image store itself]");
  added->add_option("--listen", asked->listen, "port [8082; of a mirror 8080]")
      ->check(CLI::Range(1, 65535));
  added->add_option("--gigabytes", asked->gigabytes, "most that a mirror keeps [50]")
      ->check(CLI::Range(1, 100'000));
  added->callback(
      [&context, &exit, &folder, asked] { exit = print_mirror_conf(context, *asked, folder); });
}

}  // namespace

void add_image(CLI::App& app, Context& context, Exit& exit) {
  auto* command = app.add_subcommand("image", "what machines boot and are installed with");
  command->footer(
      "Examples: cupel image build ram-1\n"
      "          cupel image import debian-12.raw debian-12 --os debian/12\n"
      "          cupel image verify debian-12");
  command->require_subcommand(1);
  const auto asked = std::make_shared<ImageAsked>();
  command->add_option("--images", asked->folder, "folder of images [STATE/images]");
  auto* listed = command->add_subcommand("list", "the images, and which are unusable");
  add_json_flag(*listed, context);
  listed->callback([&context, &exit, asked] { exit = list(context, *asked); });
  auto* verified = command->add_subcommand("verify", "compare images with their digests");
  verified->add_option("NAMES", asked->names, "images [all]");
  add_json_flag(*verified, context);
  verified->callback([&context, &exit, asked] { exit = verify(context, *asked); });
  auto* freed = command->add_subcommand("gc", "remove images, and what interrupted builds left");
  freed->footer("Example: cupel image gc --keep debian-12 ram-1 --yes");
  freed->add_option("--keep", asked->names, "images that stay; without: all of them");
  freed->add_flag("--yes", asked->yes, "remove it; without: only show what would go");
  add_json_flag(*freed, context);
  freed->callback([&context, &exit, asked] { exit = gc(context, *asked); });
  add_image_build(*command, context, exit, asked->folder);
  add_image_import(*command, context, exit, asked->folder);
  add_image_installer(*command, context, exit, asked->folder);
  add_mirror_conf(*command, context, exit, asked->folder);
}

}  // namespace cupel::cli
