! Prints the sum of all images' numbers.
program sum_of_images
  implicit none
  integer, save :: mine[*] = 0
  integer :: total, image

  mine = this_image()
  sync all
  total = 0
  do image = 1, num_images()
    total = total + mine[image]
  end do
  if (this_image() == 1) print '(a, i0, a, i0)', 'sum ', total, ' of ', num_images()
end program sum_of_images
