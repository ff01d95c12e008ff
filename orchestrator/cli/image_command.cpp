// `cupel image`: the store of what machines boot and are installed with.
#include <boost/json.hpp>

#include "base/text.h"
#include "orchestrator/cli/commands.h"
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
  if (!store) return print_error(context, store.error(), Exit::invalid);
  const auto all = store->list();
  return all ? show(context, *all) : print_error(context, all.error(), Exit::invalid);
}

Exit verify(const Context& context, const ImageAsked& asked) {
  const auto store = ImageStore::open(image_folder(context, asked.folder));
  if (!store) return print_error(context, store.error(), Exit::invalid);
  auto names = asked.names;
  if (names.empty()) {
    const auto all = store->list();
    if (!all) return print_error(context, all.error(), Exit::invalid);
    for (const auto& each : *all) names.push_back(each.name);
  }
  std::vector<StoredImage> verified;
  for (const auto& name : names) verified.push_back({name, store->verify(name)});
  return show(context, verified);
}

Exit gc(const Context& context, const ImageAsked& asked) {
  const auto store = ImageStore::open(image_folder(context, asked.folder));
  if (!store) return print_error(context, store.error(), Exit::invalid);
  auto waste = store->waste({asked.names.begin(), asked.names.end()});
  if (!waste) return print_error(context, waste.error(), Exit::invalid);
  // Without a name to keep, only what interrupted builds left.
  if (asked.names.empty()) waste->images.clear();
  if (asked.yes)
    if (const auto removed = store->remove(*waste); !removed)
      return print_error(context, removed.error(), Exit::unfinished);
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
  if (!text) return print_error(context, text.error(), Exit::invalid);
  say("{}", *text);
  return Exit::passed;
}

CommandRow mirror_conf_command(Context& context, const std::string& folder) {
  const auto asked = std::make_shared<MirrorAsked>();
  CommandRow row{"mirror-conf", "print nginx's configuration of a mirror"};
  row.footer =
      "Examples: cupel image mirror-conf          beside the image store\n"
      "          cupel image mirror-conf --from http://10.0.0.1:8082/images";
  row.options = {{"--from", &asked->from,
                  "URL of the image store: a rack's mirror, which caches what it fetches there "
                  "[none: the server of the image store itself]"},
                 {"--listen",
                  &asked->listen,
                  "port [8082; of a mirror 8080]",
                  {.range = NumberRange{1, 65535}}},
                 {"--gigabytes",
                  &asked->gigabytes,
                  "most that a mirror keeps [50]",
                  {.range = NumberRange{1, 100'000}}}};
  row.run = [&context, &folder, asked] { return print_mirror_conf(context, *asked, folder); };
  return row;
}

}  // namespace

CommandRow image_command(Context& context) {
  const auto asked = std::make_shared<ImageAsked>();
  CommandRow list_row{"list", "the images, and which are unusable"};
  list_row.options = {json_flag(context)};
  list_row.run = [&context, asked] { return list(context, *asked); };
  CommandRow verify_row{"verify", "compare images with their digests"};
  verify_row.options = {{"NAMES", &asked->names, "images [all]"}, json_flag(context)};
  verify_row.run = [&context, asked] { return verify(context, *asked); };
  CommandRow gc_row{"gc", "remove images, and what interrupted builds left"};
  gc_row.footer = "Example: cupel image gc --keep debian-12 ram-1 --yes";
  gc_row.options = {{"--keep", &asked->names, "images that stay; without: all of them"},
                    {"--yes", &asked->yes, "remove it; without: only show what would go"},
                    json_flag(context)};
  gc_row.run = [&context, asked] { return gc(context, *asked); };
  CommandRow row{"image", "what machines boot and are installed with"};
  row.footer =
      "Examples: cupel image build ram-1 --ca site-ca.pem\n"
      "          cupel image import debian-12.raw debian-12 --os debian/12\n"
      "          cupel image verify debian-12";
  row.options = {{"--images", &asked->folder, "folder of images [STATE/images]"}};
  row.subcommands = {list_row,
                     verify_row,
                     gc_row,
                     image_build_command(context, asked->folder),
                     image_import_command(context, asked->folder),
                     image_installer_command(context, asked->folder),
                     mirror_conf_command(context, asked->folder)};
  return row;
}

}  // namespace cupel::cli
