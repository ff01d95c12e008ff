// The unwinder that is linked in asks the C library where a function's unwind tables lie, by a
// function of glibc 2.35. This one does the same with what every glibc has, so that one program
// runs on nodes with glibc 2.34 (RHEL 9 and its like) too.
#include <dlfcn.h>
#include <link.h>

#include <cstdint>

namespace {

struct Sought {
  std::uintptr_t address;
  dl_find_object* found;
};

int is_it(dl_phdr_info* object, std::size_t, void* requested) {
  auto& sought = *static_cast<Sought*>(requested);
  bool inside = false;
  std::uintptr_t tables = 0, first = UINTPTR_MAX, last = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    const auto start = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_GNU_EH_FRAME) tables = start;
    if (part.p_type != PT_LOAD) continue;
    const auto end = start + part.p_memsz;
    inside = inside || (sought.address >= start && sought.address < end);
    first = first < start ? first : start;
    last = last > end ? last : end;
  }
  if (!inside || tables == 0) return 0;
  *sought.found = {};
  sought.found->dlfo_map_start = reinterpret_cast<void*>(first);
  sought.found->dlfo_map_end = reinterpret_cast<void*>(last);
  sought.found->dlfo_eh_frame = reinterpret_cast<void*>(tables);
  return 1;
}

}  // namespace

/// Source: glibc manual, 36.2 Dynamic Linker Introspection: 0 and the object, or -1.
extern "C" int _dl_find_object(void* address, dl_find_object* found) noexcept {
  Sought sought{reinterpret_cast<std::uintptr_t>(address), found};
  return dl_iterate_phdr(is_it, &sought) == 1 ? 0 : -1;
}
