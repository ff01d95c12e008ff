#pragma once
// `cupel image build`, `import` and `installer`: images made in the store, each whole or not at
// all.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

/// Where images lie: `--images`, or the state folder's.
std::filesystem::path image_folder(const Context& context, const std::string& told);

void add_image_build(CLI::App& image, Context& context, Exit& exit, const std::string& folder);
void add_image_import(CLI::App& image, Context& context, Exit& exit, const std::string& folder);
void add_image_installer(CLI::App& image, Context& context, Exit& exit, const std::string& folder);

}  // namespace cupel::cli
