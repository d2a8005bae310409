// Groups, topology, and smaller calls that programs use.

#include "armci_test.hpp"

namespace {

using armci_test::me;
using armci_test::Memory;
using armci_test::Random;
using armci_test::ranks;

TEST(Group, TheWorld) {
  ARMCI_Group world = -1;
  ARMCI_Group now = -1;
  ARMCI_Group_get_world(&world);
  ARMCI_Group_get_default(&now);
  EXPECT_EQ(world, now);
  int rank = -1;
  int size = -1;
  EXPECT_EQ(ARMCI_Group_rank(&world, &rank), 0);
  ARMCI_Group_size(&world, &size);
  EXPECT_EQ(rank, me());
  EXPECT_EQ(size, ranks());
  EXPECT_EQ(ARMCI_Absolute_id(&world, ranks() - 1), ranks() - 1);
}

/// Tests memory, barriers and numbers of the groups of odd and of even processes, and of the halves of these.
TEST(Group, OfGroups) {
  std::vector<int> members;
  for (int process = me() % 2; process < ranks(); process += 2) members.push_back(process);
  ARMCI_Group group = -1;
  ARMCI_Group_create(static_cast<int>(members.size()), members.data(), &group);
  int rank = -1;
  int size = -1;
  EXPECT_EQ(ARMCI_Group_rank(&group, &rank), 0);
  ARMCI_Group_size(&group, &size);
  EXPECT_EQ(rank, me() / 2);
  EXPECT_EQ(size, static_cast<int>(members.size()));
  for (int i = 0; i < size; ++i)
    EXPECT_EQ(ARMCI_Absolute_id(&group, i), members[static_cast<std::size_t>(i)]);

  std::vector<void*> addresses(members.size());
  EXPECT_EQ(ARMCI_Malloc_group(addresses.data(), 64, &group), 0);
  const int next = (rank + 1) % size;
  // Calls name processes by their own numbers, not by their ranks in the group.
  EXPECT_EQ(ARMCI_PutValueInt(me(), addresses[static_cast<std::size_t>(next)],
                              members[static_cast<std::size_t>(next)]),
            0);
  ARMCI_GroupFence(&group);

  ARMCI_Group_set_default(&group);
  ARMCI_Group now = -1;
  ARMCI_Group_get_default(&now);
  EXPECT_EQ(now, group);
  ARMCI_Barrier();  // of the group
  const int before = members[static_cast<std::size_t>((rank + size - 1) % size)];
  EXPECT_EQ(*static_cast<int*>(addresses[static_cast<std::size_t>(rank)]), before);

  // Members of a new group are named by their ranks in the default group; members of a child, by their ranks
  // in its parent.
  std::vector<int> half;
  for (int i = rank % 2; i < size; i += 2) half.push_back(i);
  ARMCI_Group quarter = -1;
  ARMCI_Group_create(static_cast<int>(half.size()), half.data(), &quarter);
  EXPECT_EQ(ARMCI_Absolute_id(&quarter, rank / 2), me());
  ARMCI_Group_set_default(&quarter);
  ARMCI_Group child = -1;
  ARMCI_Group_create_child(static_cast<int>(half.size()), half.data(), &child, &group);
  EXPECT_EQ(ARMCI_Absolute_id(&child, rank / 2), me());
  std::vector<void*> few(half.size());
  EXPECT_EQ(ARMCI_Malloc(few.data(), 8), 0);  // collective over the default group
  EXPECT_EQ(ARMCI_Free(few[static_cast<std::size_t>(rank / 2)]), 0);
  ARMCI_Group_free(&child);
  ARMCI_Group_free(&quarter);

  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  ARMCI_Group_set_default(&world);
  EXPECT_EQ(ARMCI_Free_group(addresses[static_cast<std::size_t>(rank)], &group), 0);
  ARMCI_Group_free(&group);
  multi::barrier();
}

TEST(Group, OneThatThisProcessIsNotIn) {
  std::vector<int> members = {ranks() - 1};
  ARMCI_Group group = -1;
  ARMCI_Group_create(1, members.data(), &group);
  int rank = 5;
  EXPECT_EQ(ARMCI_Group_rank(&group, &rank), me() == ranks() - 1 ? 0 : 1);
  EXPECT_EQ(rank, me() == ranks() - 1 ? 0 : -1);
  int size = 0;
  ARMCI_Group_size(&group, &size);
  EXPECT_EQ(size, 1);
  ARMCI_Group_free(&group);
  // The place is free again.
  ARMCI_Group other = -1;
  ARMCI_Group_create(1, members.data(), &other);
  EXPECT_EQ(other, group);
  ARMCI_Group_free(&other);
  // A group without members.
  ARMCI_Group_create(0, nullptr, &group);
  ARMCI_Group_size(&group, &size);
  EXPECT_EQ(size, 0);
  EXPECT_EQ(ARMCI_Group_rank(&group, &rank), 1);
  ARMCI_Group_free(&group);
}

TEST(Group, ManyComeAndGo) {
  std::vector<int> everyone(static_cast<std::size_t>(ranks()));
  for (int i = 0; i < ranks(); ++i) everyone[static_cast<std::size_t>(i)] = i;
  for (int i = 0; i < multi::rounds(100); ++i) {
    ARMCI_Group group = -1;
    ARMCI_Group_create(ranks(), everyone.data(), &group);
    std::vector<void*> addresses(static_cast<std::size_t>(ranks()));
    EXPECT_EQ(ARMCI_Malloc_group(addresses.data(), 8 * i, &group), 0);
    EXPECT_EQ(ARMCI_Free_group(addresses[static_cast<std::size_t>(me())], &group), 0);
    ARMCI_Group_free(&group);
  }
}

TEST(Topology, TellsTheTruth) {
  int processes = 0;
  const int hosts = armci_domain_count(ARMCI_DOMAIN_SMP);
  for (int host = 0; host < hosts; ++host) {
    const int here = armci_domain_nprocs(ARMCI_DOMAIN_SMP, host);
    EXPECT_GT(here, 0);
    for (int place = 0; place < here; ++place) {
      const int process = armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, host, place);
      EXPECT_EQ(armci_domain_id(ARMCI_DOMAIN_SMP, process), host);
      const int same = host == armci_domain_my_id(ARMCI_DOMAIN_SMP) ? 1 : 0;
      EXPECT_EQ(armci_domain_same_id(ARMCI_DOMAIN_SMP, process), same);
      EXPECT_EQ(ARMCI_Same_node(process), same);
      EXPECT_EQ(armci_sameclusnode(process), same);
      EXPECT_EQ(rma_same_host(process), same);
      ++processes;
    }
  }
  EXPECT_EQ(processes, ranks());
  EXPECT_EQ(armci_domain_id(ARMCI_DOMAIN_SMP, me()), armci_domain_my_id(ARMCI_DOMAIN_SMP));
  EXPECT_EQ(armci_domain_nprocs(ARMCI_DOMAIN_SMP, -1),
            armci_domain_nprocs(ARMCI_DOMAIN_SMP, armci_domain_my_id(ARMCI_DOMAIN_SMP)));
  EXPECT_EQ(armci_domain_id(ARMCI_DOMAIN_SMP, ranks()), -1);
  EXPECT_EQ(ARMCI_Uses_shm(), 1);
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  EXPECT_EQ(ARMCI_Uses_shm_grp(&world), 1);
  ARMCI_Set_shm_limit(1);
}

TEST(StrideInfo, GoesOverTheSegments) {
  Random random{0x71, static_cast<std::uint64_t>(me())};
  for (int i = 0; i < 200; ++i) {
    const auto shape = armci_test::Shape::draw(random, 1, false);
    std::vector<char> memory(shape.remote_extent);
    random.fill(std::as_writable_bytes(std::span(memory)));
    auto strides = shape.remote_strides;
    auto counts = shape.counts;
    stride_info_t info;
    armci_stride_info_init(&info, memory.data(), shape.levels, strides.data(), counts.data());
    std::vector<char> expected;
    int position = 0;
    shape.for_each([&](std::size_t offset, std::size_t) {
      EXPECT_EQ(armci_stride_info_has_more(&info), 1);
      EXPECT_EQ(armci_stride_info_pos(&info), position++);
      EXPECT_EQ(armci_stride_info_seg_off(&info), static_cast<int>(offset));
      EXPECT_EQ(armci_stride_info_seg_ptr(&info), memory.data() + offset);
      EXPECT_EQ(armci_stride_info_seg_size(&info), counts[0]);
      armci_stride_info_next(&info);
      expected.insert(expected.end(), memory.data() + offset, memory.data() + offset + counts[0]);
    });
    EXPECT_EQ(armci_stride_info_has_more(&info), 0);
    EXPECT_EQ(armci_stride_info_size(&info), position);
    EXPECT_EQ(armci_stride_info_count(&info), position);
    armci_stride_info_destroy(&info);

    std::vector<char> packed(expected.size());
    armci_write_strided(memory.data(), shape.levels, strides.data(), counts.data(), packed.data());
    EXPECT_EQ(packed, expected);
    std::vector<char> copy(memory.size());
    armci_read_strided(copy.data(), shape.levels, strides.data(), counts.data(), packed.data());
    std::vector<char> again(expected.size());
    armci_write_strided(copy.data(), shape.levels, strides.data(), counts.data(), again.data());
    EXPECT_EQ(again, expected);
  }
  std::array<char, 4> one = {1, 2, 3, 4};
  std::array<char, 4> other = {};
  ARMCI_Copy(one.data(), other.data(), 4);
  EXPECT_EQ(one, other);
}

}  // namespace
